package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.job.Due;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.local.EngineJobScheduler;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Revised;
import io.punctual.core.store.Store;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two engines change the same jobs in turns, and Redis is killed and started again without a loss.
 * The last acknowledged change of each job counts.
 */
@Tag("full")
class AcknowledgedChangesIT extends OwnRedisTestBase {

  private static final int EACH = 6;
  private static final long HOUR = 3_600_000;

  /** A job as it must be found: its state, and while it waits, its params, hours left, failures. */
  private record Found(JobState state, String params, long hours, int failed) {
    static final Found CANCELLED = new Found(JobState.CANCELLED, "", 0, 0);
  }

  private static Found waits(String params, long hours) {
    return new Found(JobState.DELAYED, params, hours, 0);
  }

  private static Found failedOnce(long hours) {
    return new Found(JobState.DELAYED, "1", hours, 1);
  }

  private final Map<String, Found> expected = new TreeMap<>();
  private Engine one;
  private Engine other;

  @BeforeEach
  void startEngines() {
    one = start("one");
    other = start("other");
  }

  private Engine start(String owner) {
    TestDispatcher dispatcher =
        new TestDispatcher(
            delivery -> {
              var unused =
                  delivery.taskId().startsWith("done")
                      ? delivery.done()
                      : delivery.failed(new ErrorNote("worker", "busy"), Duration.ofHours(1));
            });
    Store store = RedisStore.connect(own, new StoreOptions(prefix, Duration.ofMinutes(10)));
    Engine engine = engine(store, EngineOptions.defaults(owner), dispatcher, null);
    eventually().until(() -> !engine.storeHealth().nodes().isEmpty());
    return engine;
  }

  /** Each change is made by both engines, each of them first for half of the jobs. */
  private void changeEach(String name, Found found, Changes changes) {
    for (int i = 0; i < EACH; i++) {
      String id = name + "-" + i;
      changes.make(id, i % 2 == 0 ? one : other, i % 2 == 0 ? other : one);
      expected.put(id, found);
    }
  }

  private interface Changes {
    void make(String id, Engine first, Engine second);
  }

  private static void send(Engine engine, String id, String params, long hours) {
    assertThat(submit(engine, id, job -> job.params(params).delay(Duration.ofHours(hours))).kind())
        .isEqualTo(Submitted.Kind.CREATED);
  }

  private static void replace(Engine engine, String id, String params, long hours) {
    DelayQueueJob job =
        DelayQueueJob.of(TYPE)
            .taskId(id)
            .params(params)
            .delay(Duration.ofHours(hours))
            .tag("tag-" + id)
            .build();
    try {
      assertThat(engine.submit(APP, job, true).get(20, TimeUnit.SECONDS).kind())
          .isIn(Submitted.Kind.REPLACED, Submitted.Kind.CREATED);
    } catch (Exception e) {
      throw new AssertionError("replace of " + id + " failed", e);
    }
  }

  private static void move(Engine engine, String id, long hours) {
    assertThat(engine.operations().revise(QUEUE, id, Due.in(hours * HOUR), null, null).kind())
        .isEqualTo(Revised.Kind.REVISED);
  }

  private static void revise(Engine engine, String id, String params) {
    assertThat(
            engine
                .operations()
                .revise(QUEUE, id, null, was -> was.toBuilder().params(params).build(), null)
                .kind())
        .isEqualTo(Revised.Kind.REVISED);
  }

  private static void cancel(Engine engine, String id) {
    assertThat(engine.operations().cancel(QUEUE, id, null).kind())
        .isEqualTo(Cancelled.Kind.CANCELLED);
  }

  private static void awaitState(Engine engine, String id, JobState state, boolean tried) {
    eventually()
        .until(
            () ->
                engine
                    .find(QUEUE, id)
                    .filter(job -> job.state() == state && (job.tries().failed() > 0) == tried)
                    .isPresent());
  }

  private void changeAll() {
    changeEach("submitted", waits("1", 1), (id, first, second) -> send(first, id, "1", 1));
    changeEach(
        "movedLater",
        waits("1", 9),
        (id, first, second) -> {
          send(first, id, "1", 5);
          move(first, id, 1);
          move(second, id, 9);
        });
    changeEach(
        "movedEarlier",
        waits("1", 1),
        (id, first, second) -> {
          send(first, id, "1", 5);
          move(first, id, 9);
          move(second, id, 1);
        });
    changeEach(
        "revised",
        waits("3", 5),
        (id, first, second) -> {
          send(second, id, "1", 5);
          revise(first, id, "2");
          revise(second, id, "3");
        });
    changeEach(
        "replaced",
        waits("3", 3),
        (id, first, second) -> {
          send(second, id, "1", 1);
          replace(first, id, "2", 2);
          replace(second, id, "3", 3);
        });
    changeEach(
        "ranNow",
        failedOnce(1),
        (id, first, second) -> {
          send(second, id, "1", 5);
          move(first, id, 0);
          awaitState(second, id, JobState.DELAYED, true);
        });
    changeEach(
        "backedOff",
        failedOnce(1),
        (id, first, second) -> {
          send(first, id, "1", 0);
          awaitState(second, id, JobState.DELAYED, true);
        });
    changeEach(
        "cancelled",
        Found.CANCELLED,
        (id, first, second) -> {
          send(first, id, "1", 1);
          move(first, id, 2);
          cancel(second, id);
        });
    changeEach(
        "cancelledByTag",
        Found.CANCELLED,
        (id, first, second) -> {
          replace(first, id, "1", 1);
          assertThat(new EngineJobScheduler(APP, second).cancelByTag("tag-" + id).cancelled())
              .isEqualTo(1);
        });
    changeEach(
        "cancelledAndSubmittedAgain",
        waits("2", 2),
        (id, first, second) -> {
          send(first, id, "1", 1);
          cancel(second, id);
          send(first, id, "2", 2);
        });
    changeEach(
        "doneAndSubmittedAgain",
        waits("2", 2),
        (id, first, second) -> {
          send(first, id, "1", 0);
          awaitState(second, id, JobState.FINISHED, false);
          replace(second, id, "2", 2);
        });
  }

  private static Found found(JobView job) {
    JobContent content = job.content();
    return new Found(
        job.state(),
        content == null ? "" : content.params(),
        content == null ? 0 : Math.round((job.at() - job.now()) / (double) HOUR),
        job.tries().failed());
  }

  @Test
  void theLastAcknowledgedChangeCountsAfterARestartOfRedis() {
    changeAll();

    BiConsumer<String, Engine> restarted =
        (before, engine) ->
            eventually().until(() -> !engine.storeHealth().nodes().get(0).runId().equals(before));
    String before = one.storeHealth().nodes().get(0).runId();
    server.kill();
    server.start();
    restarted.accept(before, one);
    restarted.accept(before, other);
    // Whatever the engines do about a restart, they have done it when this one runs.
    submit(one, "done-marker", Duration.ofSeconds(5));
    awaitState(one, "done-marker", JobState.FINISHED, false);

    Map<String, Found> after = new TreeMap<>();
    for (String id : expected.keySet()) {
      one.find(QUEUE, id).ifPresent(job -> after.put(id, found(job)));
    }
    assertThat(after).isEqualTo(expected);
  }
}
