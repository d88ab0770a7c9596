package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.store.durability.StoreNode.Finding;
import io.punctual.core.store.durability.StoreNode.Persistence;
import io.punctual.core.store.redis.script.Confirmation;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoreNodeTest {

  private static StoreNode node(
      String version,
      Persistence persistence,
      @Nullable String evictionPolicy,
      @Nullable Long maxMemory) {
    return new StoreNode(
        "here:6379",
        version,
        "run",
        "line",
        0,
        false,
        persistence,
        evictionPolicy,
        maxMemory,
        900L,
        true);
  }

  @Test
  void aNodeThatDoesNotAnswerHasThatFindingAlone() {
    StoreNode node = node("7.0.15", Persistence.NOTHING, "allkeys-lru", 1_000L).unanswered();
    assertThat(node.findings())
        .singleElement()
        .returns(false, Finding::unsafe)
        .extracting(Finding::text)
        .asString()
        .startsWith("Redis at here:6379 does not answer this scheduler");
    assertThat(node.persistence()).isEqualTo(Persistence.NOTHING);
  }

  @Test
  void aSoundRedisHasNoFindings() {
    assertThat(node("7.0.15", Persistence.LOG, "noeviction", 0L).findings()).isEmpty();
    assertThat(node("6.2.0", Persistence.SYNCED_LOG, "noeviction", 1_001L).findings()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "6.0.16, LOG, noeviction, 0, true, needs Redis 6.2",
    "7.0.15, LOG, allkeys-lru, 2000, true, removes jobs when its memory is full",
    "7.0.15, LOG, volatile-lru, 0, false, once a maxmemory is set",
    "7.0.15, LOG, noeviction, 1000, false, 90 % or more of its maxmemory",
    "7.0.15, LOG, , , false, does not say how it is set up",
    "7.0.15, NO_LOG, noeviction, 0, false, or all of them",
    "7.0.15, NOTHING, noeviction, 0, false, keeps nothing on disk",
    "7.0.15, SNAPSHOTS, noeviction, 0, false, jobs of the last minutes",
    "7.0.15, LAZY_LOG, noeviction, 0, false, set appendfsync everysec"
  })
  void whatIsWrongIsSaidWithItsCure(
      String version,
      Persistence persistence,
      @Nullable String policy,
      @Nullable Long memory,
      boolean unsafe,
      String text) {
    assertThat(node(version, persistence, policy, memory).findings())
        .singleElement()
        .returns(unsafe, Finding::unsafe)
        .extracting(Finding::text)
        .asString()
        .startsWith("Redis at here:6379 ")
        .contains(text);
  }

  private static List<Finding> withReplicas(int replicas, boolean needsReplicas) {
    return new StoreNode(
            "here:6379",
            "7.0.15",
            "run",
            "line",
            replicas,
            needsReplicas,
            Persistence.LOG,
            "noeviction",
            0L,
            900L,
            true)
        .findings();
  }

  @Test
  void severalReplicasAreToBoundWhatAnIsolatedPrimaryAcknowledges() {
    assertThat(withReplicas(2, false))
        .singleElement()
        .extracting(Finding::text)
        .asString()
        .contains("2 replicas", "set min-replicas-to-write 1");
    assertThat(withReplicas(2, true)).isEmpty();
    // With one, the bound would stop all writes when that one is started again.
    assertThat(withReplicas(1, false)).isEmpty();
  }

  private static List<String> sentinels(long count, long quorum, long downAfterMs) {
    return sentinels(count, quorum, downAfterMs, Duration.ofSeconds(10));
  }

  private static List<String> sentinels(long count, long quorum, long downAfterMs, Duration lease) {
    return new SentinelSettings("jobs", count, quorum, Duration.ofMillis(downAfterMs))
        .findings(lease).stream().map(Finding::text).toList();
  }

  @Test
  void sentinelsAreToFailOverSoonThoughOneOfThemIsGone() {
    assertThat(sentinels(3, 2, 5_000)).isEmpty();
    assertThat(sentinels(2, 1, 5_000))
        .singleElement()
        .asString()
        .startsWith("Sentinel's jobs is watched by 2 Sentinels")
        .endsWith("; run three on three hosts");
    assertThat(sentinels(3, 3, 5_000)).singleElement().asString().endsWith("; set quorum 2");
    assertThat(sentinels(5, 3, 30_000))
        .singleElement()
        .asString()
        .contains("30000 ms")
        .endsWith("; set down-after-milliseconds 5000");
  }

  @Test
  void downAfterMustBeHalfOfTheLeaseAtMost() {
    assertThat(sentinels(3, 2, 30_000, Duration.ofMinutes(1))).isEmpty();
    assertThat(sentinels(3, 2, 5_000, Duration.ofSeconds(2)))
        .singleElement()
        .asString()
        .endsWith("leases of 2000 ms can expire meanwhile; set down-after-milliseconds 1000");
  }

  @Test
  void versionsAreCompared() {
    StoreNode node = node("7.2.4", Persistence.LOG, null, null);
    assertThat(node.atLeast(6, 9)).isTrue();
    assertThat(node.atLeast(7, 2)).isTrue();
    assertThat(node.atLeast(7, 3)).isFalse();
    assertThat(node.atLeast(8, 0)).isFalse();
    assertThat(node("255.255.255", Persistence.LOG, null, null).atLeast(7, 2)).isTrue();
    assertThat(node("unstable", Persistence.LOG, null, null).atLeast(7, 2)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "7.0.15, SYNCED_LOG, ''",
    "7.0.15, LOG, WAITAOF came with 7.2",
    "7.0.15, NOTHING, set appendonly yes and appendfsync always",
    "7.0.15, UNKNOWN, does not say how it is set up",
    "7.2.0, NO_LOG, set appendonly yes",
    "7.2.0, LOG, ''",
    "7.2.0, UNKNOWN, ''",
    "7.2.0, SNAPSHOTS, set appendonly yes"
  })
  void syncedNeedsALogThatIsSynced(String version, Persistence persistence, String obstacle) {
    String found = Confirmation.obstacleToSync(node(version, persistence, "noeviction", 0L));
    assertThat(found).contains(obstacle);
    assertThat(found.isEmpty()).isEqualTo(obstacle.isEmpty());
  }
}
