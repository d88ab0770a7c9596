package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Delivery;
import io.punctual.core.Engine;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.JobState;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Store;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.core.store.redis.script.TimeSource;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisExtension;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Redis's clock is set while two engines hold jobs. */
@Tag("full")
class ClockJumpIT extends EngineTestBase {

  /** Redis's time, and what is added to it. */
  static final TimeSource SETTABLE =
      new TimeSource(
          """
          local function now_ms()
            local t = redis.call('TIME')
            local set = tonumber(redis.call('GET', KEYS[#KEYS]) or '0')
            return t[1] * 1000 + math.floor(t[2] / 1000) + set
          end
          """,
          "set");

  private static final Bucket BUCKET = new Bucket(QUEUE, 0);

  private final TestDispatcher dispatcher = new TestDispatcher();
  private final TestDispatcher other = new TestDispatcher();

  private Store settable() {
    return RedisStore.connect(
        connections, new StoreOptions(prefix, Duration.ofMinutes(10)), SETTABLE);
  }

  private Engine start(String owner, TestDispatcher to) {
    return engine(settable(), options(owner).with().buckets(1).build(), to, null);
  }

  private void setClock(long millis) throws IOException {
    Resp.call(
        RedisExtension.redis().port(),
        "SET",
        prefix + ":{" + APP + ":" + TYPE + ":0}:set",
        Long.toString(millis));
  }

  private static JobState state(Engine engine, String id) {
    return engine.find(QUEUE, id).orElseThrow().state();
  }

  @ParameterizedTest
  @ValueSource(longs = {90_000, 7 * 24 * 3_600_000L})
  void aClockThatIsSetForwardEndsNoLeaseThatIsKept(long jump) throws Exception {
    Engine one = start("one", dispatcher);
    submit(one, "pushed", Duration.ZERO);
    final Delivery pushed = dispatcher.next();
    dispatcher.capacity.set(0);
    other.capacity.set(0);
    Engine two = start("two", other);
    submit(two, "pulled", Duration.ZERO);
    final PulledJob pulled =
        two.claims()
            .pull(new PullRequest(List.of(QUEUE), 1, Duration.ofSeconds(20), null, "puller"))
            .get(20, TimeUnit.SECONDS)
            .get(0);
    submit(two, "orphan", Duration.ZERO);
    assertThat(
            settable()
                .jobs()
                .claim(
                    BUCKET,
                    1,
                    Duration.ofSeconds(2),
                    JobStore.ClaimMode.PUSH,
                    new LeaseToken("gone"),
                    "gone")
                .jobs())
        .hasSize(1);

    setClock(jump);

    // A holder that is gone loses its job when the rest of its lease is over, and no other does.
    eventually().until(() -> state(one, "orphan") == JobState.DELAYED);
    assertThat(state(one, "pushed")).isEqualTo(JobState.RESERVED);
    assertThat(state(one, "pulled")).isEqualTo(JobState.RESERVED);
    assertThat(pushed.leaseHeld()).isTrue();
    assertThat(two.claims().extend(pulled.token(), Duration.ofSeconds(5))).isPresent();
  }

  @Test
  void aClockThatIsSetBackEndsNoLease() throws Exception {
    Engine one = start("one", dispatcher);
    submit(one, "pushed", Duration.ZERO);
    Delivery pushed = dispatcher.next();
    start("two", other);

    setClock(-90_000);

    submit(one, "later", Duration.ofMillis(1500));
    Delivery next = dispatcher.poll(Duration.ofSeconds(10));
    next = next == null ? other.next() : next;
    assertThat(next.taskId()).isEqualTo("later");
    assertThat(state(one, "pushed")).isEqualTo(JobState.RESERVED);
    assertThat(pushed.leaseHeld()).isTrue();
  }
}
