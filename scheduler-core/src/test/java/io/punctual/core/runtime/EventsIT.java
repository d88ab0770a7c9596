package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.DelayQueueJob.Event;
import io.punctual.RetryPolicy;
import io.punctual.core.Delivery;
import io.punctual.core.Engine;
import io.punctual.core.Operations.EventDone;
import io.punctual.core.Operations.EventItem;
import io.punctual.core.Operations.EventOutcome;
import io.punctual.core.Submit;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.query.JobView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Events that cancel jobs and make them due, before and after the jobs are there. */
class EventsIT extends EngineTestBase {

  private static final Event PAID = new Event("order.paid", "4711");
  private static final Duration LATER = Duration.ofHours(1);

  private static Submit submit(
      Engine engine, String type, String id, UnaryOperator<DelayQueueJob.Builder> with) {
    return engine
        .submit(APP, with.apply(DelayQueueJob.of(type).taskId(id).delay(LATER)).build(), false)
        .join();
  }

  private static Map<String, EventOutcome> outcomes(EventDone done) {
    assertThat(done.damaged()).isEmpty();
    Map<String, EventOutcome> outcomes = new HashMap<>();
    for (EventItem item : done.items()) {
      assertThat(outcomes.put(item.taskId(), item.outcome())).isNull();
    }
    return outcomes;
  }

  private static JobState state(Engine engine, String id) {
    return engine.find(QUEUE, id).orElseThrow().state();
  }

  @Test
  void anEventCancelsWhatNamesItAndMakesDueWhatWaitsForIt() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(
        engine,
        TYPE,
        "dies",
        job -> job.cancelOn("order.paid", "4711").retry(RetryPolicy.NEVER).delay(Duration.ZERO));
    dispatcher.next().failed(new ErrorNote("here", "no"), null).join();
    submit(engine, TYPE, "runs", job -> job.cancelOn("order.paid", "4711").delay(Duration.ZERO));
    Delivery runs = dispatcher.next();
    submit(engine, TYPE, "runs-too", job -> job.runOn("order.paid", "4711").delay(Duration.ZERO));
    Delivery runsToo = dispatcher.next();
    submit(engine, TYPE, "waits", job -> job.cancelOn("order.paid", "4711").tag("x"));
    submit(engine, TYPE, "starts", job -> job.runOn("order.paid", "4711"));
    submit(
        engine,
        TYPE,
        "both",
        job -> job.runOn("order.paid", "4711").cancelOn("order.paid", "4711"));
    submit(engine, TYPE, "other-key", job -> job.cancelOn("order.paid", "4712"));
    submit(engine, TYPE, "other-name", job -> job.runOn("order.sent", "4711"));
    submit(
        engine,
        "another",
        "elsewhere",
        job -> job.cancelOn("a", "b").cancelOn("order.paid", "4711"));
    JobView waits = engine.find(QUEUE, "waits").orElseThrow();
    assertThat(waits.tags()).containsExactly("x");
    assertThat(waits.cancelOn()).containsExactly(PAID);
    assertThat(waits.runOn()).isEmpty();

    assertThat(outcomes(engine.operations().event(APP, PAID)))
        .isEqualTo(
            Map.of(
                "dies", EventOutcome.DEAD,
                "runs", EventOutcome.CANCELLING,
                "runs-too", EventOutcome.IN_DELIVERY,
                "waits", EventOutcome.CANCELLED,
                "starts", EventOutcome.DUE,
                "both", EventOutcome.CANCELLED,
                "elsewhere", EventOutcome.CANCELLED));
    assertThat(dispatcher.next().taskId()).isEqualTo("starts");
    assertThat(state(engine, "waits")).isEqualTo(JobState.CANCELLED);
    assertThat(state(engine, "other-key")).isEqualTo(JobState.DELAYED);
    assertThat(state(engine, "other-name")).isEqualTo(JobState.DELAYED);
    runs.failed(new ErrorNote("here", "it stopped"), null).join();
    assertThat(state(engine, "runs")).isEqualTo(JobState.CANCELLED);
    runsToo.done().join();
    assertThat(outcomes(engine.operations().event("nobody", PAID))).isEmpty();
  }

  @Test
  void aJobThatIsSubmittedLaterHearsOfItForAWhile() throws Exception {
    Engine engine =
        engine(
            store(),
            options("engine").with().eventMemory(Duration.ofSeconds(5)).build(),
            new TestDispatcher(),
            null);
    long begun = System.nanoTime();
    assertThat(outcomes(engine.operations().event(APP, PAID))).isEmpty();

    UnaryOperator<DelayQueueJob.Builder> named = job -> job.cancelOn("order.paid", "4711");
    for (int i = 0; i < 2; i++) {
      // Repeated, since the answer may have been lost.
      assertThat(submit(engine, TYPE, "late", named).kind())
          .isEqualTo(Submitted.Kind.CANCELLED_BY_EVENT);
      assertThat(state(engine, "late")).isEqualTo(JobState.CANCELLED);
    }
    Submit due = submit(engine, TYPE, "due", job -> job.runOn("order.paid", "4711"));
    assertThat(due.kind()).isEqualTo(Submitted.Kind.CREATED);
    JobView now = engine.find(QUEUE, "due").orElseThrow();
    assertThat(due.dueAt()).isLessThanOrEqualTo(now.now());
    assertThat(submit(engine, TYPE, "other", job -> job.cancelOn("order.paid", "1")).kind())
        .isEqualTo(Submitted.Kind.CREATED);
    assertThat(
            engine
                .submit(
                    "elsewhere", named.apply(DelayQueueJob.of(TYPE).delay(LATER)).build(), false)
                .join()
                .kind())
        .isEqualTo(Submitted.Kind.CREATED);
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(5));

    eventually()
        .until(
            () -> submit(engine, TYPE, "l" + System.nanoTime(), named).kind(),
            kind -> kind == Submitted.Kind.CREATED);
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofMillis(4900));
  }

  @Test
  void equalJobsNameEqualEvents() {
    Engine engine = engine(new TestDispatcher());
    submit(engine, TYPE, "a", job -> job.cancelOn("x", "1").cancelOn("y", "2"));
    assertThat(submit(engine, TYPE, "a", job -> job.cancelOn("y", "2").cancelOn("x", "1")).kind())
        .isEqualTo(Submitted.Kind.ALREADY_THERE);
    Submit other = submit(engine, TYPE, "a", job -> job.runOn("x", "1").cancelOn("y", "2"));
    assertThat(other.kind()).isEqualTo(Submitted.Kind.CONFLICT);
    assertThat(other.differing()).containsExactly("cancelOn", "runOn");
  }

  @Test
  void noEventIsLostThatComesAtTheTimeOfTheSubmit() throws Exception {
    int rounds = 400;
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine one = engine(dispatcher);
    Engine two = engine(dispatcher);
    ExecutorService threads = Executors.newFixedThreadPool(16);
    Random random = new Random(24);
    Set<String> told = ConcurrentHashMap.newKeySet();
    try {
      List<Future<?>> calls = new ArrayList<>();
      for (int i = 0; i < rounds; i++) {
        String id = "job-" + i;
        boolean cancels = i % 2 == 0;
        // Some are the first of their queue, which the other engine has not heard of.
        String type = i % 8 == 0 ? "type-" + i : TYPE;
        Callable<Object> submit =
            () -> {
              Submit answer =
                  submit(
                      random.nextBoolean() ? one : two,
                      type,
                      id,
                      job -> cancels ? job.cancelOn("e", id) : job.runOn("e", id));
              if (answer.kind() == Submitted.Kind.CANCELLED_BY_EVENT) {
                told.add(id);
              }
              return answer;
            };
        Callable<Object> event = () -> one.operations().event(APP, new Event("e", id));
        boolean eventFirst = random.nextBoolean();
        calls.add(threads.submit(eventFirst ? event : submit));
        calls.add(threads.submit(eventFirst ? submit : event));
      }
      for (Future<?> call : calls) {
        call.get();
      }
    } finally {
      threads.shutdown();
    }

    for (int i = 0; i < rounds; i++) {
      String id = "job-" + i;
      QueueName queue = new QueueName(APP, i % 8 == 0 ? "type-" + i : TYPE);
      if (i % 2 == 0) {
        assertThat(one.find(queue, id).orElseThrow().state()).as(id).isEqualTo(JobState.CANCELLED);
      } else {
        eventually().until(() -> two.find(queue, id).orElseThrow().state() == JobState.FINISHED);
      }
    }
    // Both orders have happened.
    assertThat(told).isNotEmpty().hasSizeLessThan(rounds / 2);
    assertThat(dispatcher.seen).hasSize(rounds / 2).doesNotHaveDuplicates();
  }
}
