package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.ClaimToken;
import io.punctual.core.DeathCause;
import io.punctual.core.Engine;
import io.punctual.core.EngineListener;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.QueueListener;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.Settled;
import io.punctual.core.store.query.JobView;
import io.punctual.schedule.TimeRules;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** No attempt starts after a job's last start. */
class ExpiryIT extends EngineTestBase {

  private final Map<String, Integer> told = new ConcurrentHashMap<>();

  private final EngineListener listener =
      new EngineListener() {
        @Override
        public QueueListener of(QueueName queue) {
          return new QueueListener() {
            @Override
            public void died(DeathCause cause, int jobs) {
              told.merge("died " + cause, jobs, Integer::sum);
            }

            @Override
            public void dropped(int jobs) {
              told.merge("dropped", jobs, Integer::sum);
            }
          };
        }
      };

  private Engine told(TestDispatcher dispatcher) {
    return engine(store(), options("engine", listener), dispatcher, null);
  }

  private static void submitted(Engine engine, String id, long expiresInMs) {
    submit(
        engine,
        id,
        job -> job.delay(Duration.ZERO).expiresIn(Duration.ofMillis(expiresInMs)).tag("t"));
  }

  private static JobView job(Engine engine, String id) {
    return engine.find(QUEUE, id).orElseThrow();
  }

  private static void dead(Engine engine, String id) {
    eventually().until(() -> job(engine, id).state() == JobState.DEAD);
    assertThat(job(engine, id).deathReason()).isEqualTo("expired");
  }

  /** Until the store's clock has passed the last start of the job. */
  private static void passed(Engine engine, String id) {
    eventually()
        .until(
            () -> {
              JobView job = job(engine, id);
              Instant last = job.notAfter();
              return last != null && job.now() > last.toEpochMilli();
            });
  }

  @Test
  void afterAnOutageWhatIsTooLateDiesAndAllElseGoesOut() {
    TestDispatcher dispatcher = TestDispatcher.done();
    dispatcher.capacity.set(0);
    Engine engine = told(dispatcher);
    for (int i = 0; i < 300; i++) {
      submitted(engine, "late-" + i, 300);
      submitted(engine, "in-time-" + i, 3_600_000);
      submit(engine, "plain-" + i, Duration.ZERO);
    }
    passed(engine, "late-299");

    dispatcher.capacity.set(200);
    engine.capacityChanged(QUEUE);
    eventually().until(() -> engine.stats(QUEUE).orElseThrow().delayed() == 0);
    eventually().until(() -> engine.stats(QUEUE).orElseThrow().reserved() == 0);

    assertThat(dispatcher.seen).hasSize(600).noneMatch(id -> id.startsWith("late-"));
    JobView late = job(engine, "late-7");
    assertThat(late.state()).isEqualTo(JobState.DEAD);
    assertThat(late.deathReason()).isEqualTo("expired");
    assertThat(late.tries().counted()).isZero();
    assertThat(late.tags()).containsExactly("t");
    assertThat(lastError(late).kind()).isEqualTo("expired");
    eventually().until(() -> told.equals(Map.of("died EXPIRED", 300)));
    assertThat(engine.stats(QUEUE).orElseThrow().counters())
        .containsEntry("lapsed", 300L)
        .containsEntry("done", 600L);
  }

  @Test
  void aBacklogOfExpiredJobsUsesUpNoRateAndNoConcurrency() {
    TestDispatcher dispatcher = TestDispatcher.done();
    dispatcher.capacity.set(0);
    Engine engine = told(dispatcher);
    for (int i = 0; i < 450; i++) {
      submitted(engine, "late-" + i, 100);
    }
    submit(engine, "plain", Duration.ZERO);
    engine.operations().limit(QUEUE, new Throttle(1, Throttle.Rate.parse("20/s")));
    passed(engine, "late-449");
    eventually().pollDelay(Duration.ofMillis(1100)).until(() -> true);

    dispatcher.capacity.set(200);
    engine.capacityChanged(QUEUE);
    // At the rate it would be more than twenty seconds.
    eventually().atMost(Duration.ofSeconds(10)).until(() -> dispatcher.seen.contains("plain"));
    eventually().until(() -> told.equals(Map.of("died EXPIRED", 450)));
  }

  @Tag("full")
  @Test
  void aPausedQueueLetsItsJobsExpire() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = told(dispatcher);
    submit(engine, "first", Duration.ZERO);
    var unused = engine.operations().pause(QUEUE, true);
    submitted(engine, "late", 100);
    dead(engine, "late");
    assertThat(dispatcher.seen).doesNotContain("late");
  }

  @Test
  void aRetryThatWouldBeTooLateIsNone() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = told(dispatcher);
    submitted(engine, "a", 60_000);
    dispatcher.next().failed(new ErrorNote("here", "broken"), Duration.ofMinutes(2)).join();

    JobView dead = job(engine, "a");
    assertThat(dead.state()).isEqualTo(JobState.DEAD);
    assertThat(dead.deathReason()).isEqualTo("expired");
    assertThat(lastError(dead).message()).isEqualTo("broken");
    assertThat(told).isEqualTo(Map.of("died EXPIRED", 1));
  }

  @Test
  void anAttemptThatRunsGoesOn() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = told(dispatcher);
    submitted(engine, "a", 1000);
    var delivery = dispatcher.next();
    passed(engine, "a");
    delivery.done().join();
    assertThat(job(engine, "a").state()).isEqualTo(JobState.FINISHED);
    assertThat(told).isEmpty();
  }

  @Test
  void whoPullsGetsNothingThatIsTooLate() throws Exception {
    TestDispatcher dispatcher = TestDispatcher.done();
    dispatcher.capacity.set(0);
    Engine engine = told(dispatcher);
    submitted(engine, "late", 100);
    submitted(engine, "in-time", 60_000);
    passed(engine, "late");

    PullRequest request =
        new PullRequest(
            List.of(QUEUE), 10, Duration.ofSeconds(10), Duration.ofSeconds(20), "puller");
    List<PulledJob> pulled = engine.claims().pull(request).get(30, TimeUnit.SECONDS);
    assertThat(pulled).extracting(job -> job.token().taskId()).containsExactly("in-time");
    dead(engine, "late");
    ClaimToken token = pulled.get(0).token();
    Settled failed =
        engine
            .claims()
            .failed(token, "puller", "no", Duration.ofHours(1))
            .get(30, TimeUnit.SECONDS);
    assertThat(failed.kind()).isEqualTo(Settled.Kind.EXPIRED);
    dead(engine, "in-time");
  }

  @Test
  void aQueueMayDropWhatIsTooLate() {
    TestDispatcher dispatcher = TestDispatcher.done();
    dispatcher.capacity.set(0);
    Engine engine = told(dispatcher);
    submitted(engine, "late", 100);
    engine.operations().dropExpired(QUEUE, true);
    assertThat(engine.stats(QUEUE).orElseThrow().dropsExpired()).isTrue();
    passed(engine, "late");

    dispatcher.capacity.set(1);
    engine.capacityChanged(QUEUE);
    eventually().until(() -> engine.find(QUEUE, "late").isEmpty());
    eventually().until(() -> told.equals(Map.of("dropped", 1)));
  }

  @Test
  void twoSchedulersDeliverInTimeOrNotAtAll() {
    TestDispatcher one = TestDispatcher.done();
    TestDispatcher other = TestDispatcher.done();
    one.capacity.set(0);
    other.capacity.set(0);
    Engine first = engine(store(), options("one"), one, null);
    Engine second = engine(store(), options("other"), other, null);
    for (int i = 0; i < 200; i++) {
      submitted(first, "late-" + i, 200);
      submitted(second, "in-time-" + i, 3_600_000);
    }
    passed(first, "late-199");
    one.capacity.set(10);
    other.capacity.set(10);
    first.capacityChanged(QUEUE);
    second.capacityChanged(QUEUE);

    eventually().until(() -> first.stats(QUEUE).orElseThrow().delayed() == 0);
    eventually().until(() -> first.stats(QUEUE).orElseThrow().reserved() == 0);
    assertThat(one.seen.size() + other.seen.size()).isEqualTo(200);
    assertThat(one.seen).noneMatch(id -> id.startsWith("late"));
    assertThat(other.seen).noneMatch(id -> id.startsWith("late"));
    assertThat(first.stats(QUEUE).orElseThrow().dead()).isEqualTo(200);
  }

  @Test
  void theSpreadIsTheSameForEveryScheduler() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine first = engine(store(), options("one"), dispatcher, null);
    Engine second = engine(store(), options("other"), dispatcher, null);
    Instant due = Instant.parse("2040-01-01T00:00:00Z");
    Map<String, Long> moments = new TreeMap<>();
    IntStream.range(0, 20)
        .forEach(
            i -> {
              String id = "job-" + i;
              long at =
                  submit(first, id, job -> job.dueAt(due).within(Duration.ofMinutes(5))).dueAt();
              assertThat(
                      submit(second, id, job -> job.dueAt(due).within(Duration.ofMinutes(5)))
                          .dueAt())
                  .isEqualTo(at);
              moments.put(id, at);
            });
    assertThat(moments.values())
        .allMatch(at -> at >= due.toEpochMilli() && at <= due.plusSeconds(300).toEpochMilli());
    assertThat(moments.values().stream().distinct().count()).isGreaterThan(15);
  }

  @Test
  void aChangedJobExpiresByItsNewRules() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = told(dispatcher);
    submit(engine, "a", Duration.ofHours(1));
    Instant last = Instant.parse("2040-01-01T00:00:00Z");
    var unused =
        engine
            .operations()
            .revise(
                QUEUE,
                "a",
                null,
                content -> content.toBuilder().timeRules(new TimeRules(last, null, null)).build(),
                null);
    assertThat(job(engine, "a").notAfter()).isEqualTo(last);
    assertThat(job(engine, "a").tags()).isEmpty();
  }
}
