package io.punctual.core.store.redis;

import io.punctual.core.store.durability.StoreNode.Finding;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.springframework.data.redis.connection.RedisServer;

/**
 * How Sentinels watch a primary.
 *
 * @param primary its name in the Sentinels' configuration
 * @param sentinels how many watch it
 * @param quorum how many of them must agree that it is down
 * @param downAfter how long it must be silent before a Sentinel takes it for down
 */
record SentinelSettings(String primary, long sentinels, long quorum, Duration downAfter) {

  private static final long GOOD_MILLIS = 5_000;

  static SentinelSettings of(RedisServer primary) {
    Long others = primary.getNumberOtherSentinels();
    Long quorum = primary.getQuorum();
    String downAfter = primary.get(RedisServer.INFO.DOWN_AFTER_MILLISECONDS);
    return new SentinelSettings(
        String.valueOf(primary.getName()),
        others == null ? 1 : others + 1,
        quorum == null ? 1 : quorum,
        Duration.ofMillis(downAfter == null ? 0 : Long.parseLong(downAfter)));
  }

  /**
   * Returns what needs a fix; empty if nothing does.
   *
   * @param lease jobs of holders that cannot renew their leases go out again after about that time
   */
  List<Finding> findings(Duration lease) {
    List<Finding> findings = new ArrayList<>();
    if (sentinels < 3) {
      findings.add(
          finding(
              "is watched by "
                  + sentinels
                  + " Sentinels: if a host with one of them is gone, there is no fail-over;"
                  + " run three on three hosts"));
    } else if (quorum >= sentinels) {
      findings.add(
          finding(
              "fails over only while all "
                  + sentinels
                  + " Sentinels live, since quorum is "
                  + quorum
                  + "; set quorum "
                  + (sentinels / 2 + 1)));
    }
    if (downAfter.compareTo(lease.dividedBy(2)) > 0) {
      findings.add(
          finding(
              "is failed over only after "
                  + downAfter.toMillis()
                  + " ms without an answer (down-after-milliseconds): jobs wait for that long, and"
                  + " leases of "
                  + lease.toMillis()
                  + " ms can expire meanwhile; set down-after-milliseconds "
                  + Math.min(GOOD_MILLIS, lease.toMillis() / 2)));
    }
    return findings;
  }

  private Finding finding(String text) {
    return new Finding(false, "Sentinel's " + primary + " " + text);
  }
}
