package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.store.durability.EpochMarker;
import io.punctual.core.store.durability.LossEntry;
import io.punctual.core.store.durability.StoreLoss;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.RedisServer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Several schedulers write losses at the same time. */
class EpochMarkerIT {

  private final RedisServer redis = RedisServer.startTemporary();
  private final JedisConnectionFactory connections =
      StandaloneStoreIT.started(
          new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", redis.port())));
  private final ExecutorService schedulers = Executors.newFixedThreadPool(4);
  private EpochMarker marks;

  @BeforeEach
  void connect() {
    marks = RedisStore.connect(connections, StoreOptions.DEFAULTS).epoch();
  }

  @AfterEach
  void stop() {
    schedulers.shutdownNow();
    connections.destroy();
    redis.close();
  }

  private void atOnce(List<Runnable> calls) throws Exception {
    List<Future<?>> made = new ArrayList<>();
    calls.forEach(call -> made.add(schedulers.submit(call)));
    for (Future<?> each : made) {
      each.get();
    }
  }

  private void restarted(int number) {
    restarted(number, 1_000);
  }

  private void record(String name, LossEntry.Kind kind, long at) {
    marks.record(List.of(new EpochMarker.Notice(name, kind, at, 1)));
  }

  private void restarted(int number, long at) {
    record(EpochMarker.RESTARTED + number, LossEntry.Kind.RESTARTED, at);
  }

  @Test
  void eachEntryHasItsOwnSequence() throws Exception {
    List<Runnable> calls = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      int number = i;
      calls.add(() -> restarted(number));
    }
    atOnce(calls);

    assertThat(marks.journal().stream().map(LossEntry::sequence))
        .hasSize(40)
        .doesNotHaveDuplicates()
        .isSorted();
  }

  @Test
  void whatOneLookShowsIsThereAtOnce() throws Exception {
    List<EpochMarker.Notice> look =
        List.of(
            new EpochMarker.Notice("emptied a", LossEntry.Kind.EMPTIED, 1_000, 0),
            new EpochMarker.Notice("restarted b", LossEntry.Kind.RESTARTED, 1_000, 500));
    atOnce(List.of(() -> marks.record(look), () -> marks.record(look)));

    assertThat(marks.journal())
        .extracting(LossEntry::kind)
        .containsExactly(LossEntry.Kind.EMPTIED, LossEntry.Kind.RESTARTED);
  }

  @Test
  void anOlderStateThatTwoSchedulersNoticeAtOnceIsOneLoss() throws Exception {
    for (int i = 0; i < 20; i++) {
      String name = EpochMarker.OLDER + i;
      List<Runnable> calls = new ArrayList<>();
      for (long at : new long[] {4_999, 5_001}) {
        calls.add(() -> record(name, LossEntry.Kind.OLDER, at));
        calls.add(() -> marks.report(name, new StoreLoss(Instant.ofEpochMilli(at), "is older")));
      }
      atOnce(calls);
      assertThat(marks.journal()).hasSize(i + 1);
      assertThat(marks.losses()).hasSize(i + 1);
    }
    record(EpochMarker.OLDER + 0, LossEntry.Kind.OLDER, 10_001);
    assertThat(marks.journal()).hasSize(21);
  }

  @Test
  void aRestartThatIsNoticedAMinuteLaterIsAnotherEntry() {
    restarted(1, 100_000);
    restarted(1, 159_000);
    assertThat(marks.journal()).hasSize(1);

    restarted(1, 161_000);
    assertThat(marks.journal()).hasSize(2);
  }

  @Test
  void theOldestEntriesAreRemoved() {
    for (int i = 0; i < 60; i++) {
      restarted(i);
    }
    // An entry that is in the journal already is not added.
    restarted(59);
    assertThat(marks.journal())
        .hasSize(50)
        .first()
        .extracting(LossEntry::sequence)
        .isEqualTo(1_010L);
  }
}
