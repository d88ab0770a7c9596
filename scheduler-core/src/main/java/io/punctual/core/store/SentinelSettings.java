package io.punctual.core.store;

import io.punctual.core.store.StoreNode.Finding;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.springframework.data.redis.connection.RedisServer;

/**
 * How Sentinels watch a primary.
 *
 * @param primary the name by which they know it
 * @param sentinels those that know of each other
 * @param quorum how many of them must agree that it is down
 * @param downAfter how long it must be silent before
 */
record SentinelSettings(String primary, long sentinels, long quorum, Duration downAfter) {

  /** Jobs of holders that cannot renew their leases go out again after about that time. */
  private static final Duration LEASE = Duration.ofSeconds(10);

  static SentinelSettings of(RedisServer primary) {
    return new SentinelSettings(
        String.valueOf(primary.getName()),
        primary.getNumberOtherSentinels() + 1,
        primary.getQuorum(),
        Duration.ofMillis(Long.parseLong(primary.get(RedisServer.INFO.DOWN_AFTER_MILLISECONDS))));
  }

  /** What ought to be changed; empty if nothing. */
  List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    if (sentinels < 3) {
      findings.add(
          finding(
              "is watched by %d Sentinels: if a host with one of them is gone, there is no"
                  + " fail-over; run three on three hosts",
              sentinels));
    } else if (quorum >= sentinels) {
      findings.add(
          finding(
              "fails over only while all %d Sentinels live, since quorum is %d; set quorum %d",
              sentinels, quorum, sentinels / 2 + 1));
    }
    if (downAfter.compareTo(LEASE) > 0) {
      findings.add(
          finding(
              "must be silent for %d ms before a fail-over begins (down-after-milliseconds): jobs"
                  + " wait for that long, and leases of 10 s run out meanwhile;"
                  + " set down-after-milliseconds 5000",
              downAfter.toMillis()));
    }
    return findings;
  }

  private Finding finding(String text, Object... values) {
    return new Finding(false, "Sentinel's " + primary + " " + text.formatted(values));
  }
}
