package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayQueueJob;
import io.punctual.core.Engine;
import io.punctual.core.Operations;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Revised;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.Forecast;
import io.punctual.core.store.query.JobView;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnection;

class OperationsIT extends EngineTestBase {

  private static UnaryOperator<JobContent> params(String params) {
    return content -> content.toBuilder().params(params).build();
  }

  @Test
  void jobsOfAllBucketsAreListedInOneOrder() {
    Engine engine = engine(store(), buckets(4), TestDispatcher.done(), null);
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      int number = i;
      submit(engine, "job" + i, job -> job.delayTime(9_000_000_000_000L + number / 2));
      expected.add("job" + i);
    }
    List<String> found = new ArrayList<>();
    Cursor after = null;
    do {
      Operations.Listed<Cursor> page = engine.operations().jobs(QUEUE, JobState.DELAYED, after, 7);
      page.jobs().forEach(job -> found.add(job.taskId()));
      after = page.next();
    } while (after != null);
    assertThat(found).containsExactlyInAnyOrderElementsOf(expected).doesNotHaveDuplicates();
    assertThat(found.subList(0, 4)).containsExactly("job0", "job1", "job2", "job3");
    assertThat(engine.operations().jobs(new QueueName(APP, "none"), JobState.DEAD, null, 7).jobs())
        .isEmpty();
  }

  @Test
  void largeJobsOfAllBucketsAreListedInOneOrder() {
    Engine engine = engine(store(), buckets(4), TestDispatcher.done(), null);
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      int number = i;
      submit(
          engine,
          "job" + i,
          job -> job.delayTime(9_000_000_000_000L + number).params("x".repeat(250_000)));
      expected.add("job" + i);
    }
    List<String> found = new ArrayList<>();
    int pages = 0;
    Cursor after = null;
    do {
      Operations.Listed<Cursor> page =
          engine.operations().jobs(QUEUE, JobState.DELAYED, after, 200);
      page.jobs().forEach(job -> found.add(job.taskId()));
      after = page.next();
      pages++;
    } while (after != null);
    assertThat(found).isEqualTo(expected);
    assertThat(pages).isGreaterThan(1);
  }

  @Test
  void jobsOfATagAreFoundInAllBucketsOfTheQueue() throws Exception {
    Engine engine = engine(store(), buckets(3), TestDispatcher.done(), null);
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      DelayQueueJob job =
          DelayQueueJob.of(QUEUE.taskType())
              .taskId("job" + i)
              .delay(Duration.ofHours(1))
              .tag(i % 4 == 3 ? "order:2" : "order:1")
              .build();
      engine.submit(APP, job, false).get(20, TimeUnit.SECONDS);
      if (i % 4 != 3) {
        expected.add("job" + i);
      }
    }
    for (int max : new int[] {1, 4, 200}) {
      List<String> found = new ArrayList<>();
      Operations.TagCursor after = null;
      do {
        Operations.Listed<Operations.TagCursor> page =
            engine.operations().tagged(QUEUE, "order:1", after, max);
        page.jobs().forEach(job -> found.add(job.taskId()));
        assertThat(page.calls()).isBetween(1, max + 3);
        after = page.next();
      } while (after != null);
      assertThat(found).containsExactlyInAnyOrderElementsOf(expected);
    }
    assertThat(engine.operations().tagged(new QueueName(APP, "none"), "order:1", null, 9).jobs())
        .isEmpty();
  }

  @Test
  void aWaitingJobGetsOtherParams() {
    Engine engine = engine(TestDispatcher.done());
    submit(engine, "a", Duration.ofHours(1));
    JobView before = engine.find(QUEUE, "a").orElseThrow();

    Revised revised = engine.operations().revise(QUEUE, "a", null, params("new"), null);

    assertThat(revised.kind()).isEqualTo(Revised.Kind.REVISED);
    JobView after = engine.find(QUEUE, "a").orElseThrow();
    assertThat(after.content())
        .isEqualTo(params("new").apply(JobContent.of(Due.in(3_600_000)).build()));
    assertThat(after.at()).isEqualTo(before.at());
    assertThat(after.incarnation()).isNotEqualTo(before.incarnation());
    JobVersion old = new JobVersion(String.valueOf(before.incarnation()), before.version());
    assertThat(engine.operations().revise(QUEUE, "a", null, params("x"), old).kind())
        .isEqualTo(Revised.Kind.CHANGED);
    assertThat(engine.operations().revise(QUEUE, "none", null, params("x"), null).kind())
        .isEqualTo(Revised.Kind.UNKNOWN);
  }

  @Test
  void changesAtTheSameTimeAllTakeEffect() {
    Engine engine = engine(TestDispatcher.done());
    submit(engine, "a", Duration.ofHours(1));
    List<CompletableFuture<Revised>> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.add(
          CompletableFuture.supplyAsync(
              () ->
                  engine
                      .operations()
                      .revise(
                          QUEUE,
                          "a",
                          null,
                          content -> params(content.params() + "x").apply(content),
                          null)));
    }
    all.forEach(one -> assertThat(one.join().kind()).isEqualTo(Revised.Kind.REVISED));
    JobContent content = engine.find(QUEUE, "a").orElseThrow().content();
    assertThat(String.valueOf(content)).contains("params=xxxx,");
  }

  @Test
  void theForecastCountsAllQueues() throws Exception {
    Engine engine = engine(store(), buckets(2), TestDispatcher.done(), null);
    for (int i = 0; i < 12; i++) {
      DelayQueueJob job =
          DelayQueueJob.of("type" + i % 2).delay(Duration.ofMinutes(10L * i + 5)).build();
      engine.submit(APP, job, false).get(20, TimeUnit.SECONDS);
    }
    Forecast forecast =
        engine
            .operations()
            .forecast(
                List.of(new QueueName(APP, "type0"), new QueueName(APP, "type1")),
                Duration.ofMinutes(20),
                3);
    assertThat(forecast.counts()).containsExactly(2L, 2L, 2L);
    assertThat(forecast.ready()).isZero();
  }

  @Test
  void aQueueThatIsNotKnownCannotBePaused() {
    Engine engine = engine(TestDispatcher.done());
    assertThatThrownBy(() -> engine.operations().pause(new QueueName(APP, "none"), true))
        .isInstanceOf(NoSuchElementException.class)
        .hasMessageContaining("shop/none");
  }

  private static DelayQueueJob now(String taskId) {
    return DelayQueueJob.of("later").taskId(taskId).delay(Duration.ZERO).build();
  }

  private static TestDispatcher noting(Set<String> ran) {
    return new TestDispatcher(
        delivery -> {
          ran.add(delivery.taskId());
          var unused = delivery.done();
        });
  }

  @Test
  void aPauseEndsByItselfAlsoAtSchedulersThatBeganLater() {
    Engine first = engine(store(), rareChecks("first"), TestDispatcher.done(), null);
    submit(first, "early", Duration.ofHours(1));
    first.operations().pause(QUEUE, new Pause.Terms("ada", "deploy", Duration.ofMillis(1_500)));
    assertThat(first.stats(QUEUE).orElseThrow().pauses())
        .singleElement()
        .satisfies(
            pause -> {
              assertThat(pause.by()).isEqualTo("ada");
              assertThat(pause.reason()).isEqualTo("deploy");
              assertThat(pause.until()).isEqualTo(pause.since() + 1_500);
            });
    submit(first, "due", Duration.ZERO);
    first.close();

    Set<String> ran = ConcurrentHashMap.newKeySet();
    Engine second = engine(store(), rareChecks("second"), noting(ran), null);
    eventually().until(() -> ran.contains("due"));
    assertThat(second.stats(QUEUE).orElseThrow().pauses()).isEmpty();
  }

  @Test
  void aPauseOfAnApplicationHoldsForAllItsQueuesAlsoThoseThatBeginLater() {
    Set<String> ran = ConcurrentHashMap.newKeySet();
    Engine engine = engine(store(), buckets(2), noting(ran), null);
    submit(engine, "known", Duration.ofMillis(1));
    eventually().until(() -> ran.contains("known"));
    Pause.Terms terms = new Pause.Terms("ada", "发布", null);

    Operations.ApplicationPaused paused = engine.operations().pauseApplication(APP, terms);
    assertThat(paused.queues()).isEqualTo(1);
    assertThat(paused.pause()).extracting(Pause::by).isEqualTo("ada");
    Engine other = engine(store(), options("other"), noting(ran), null);
    QueueName later = new QueueName(APP, "later");
    var unused = other.submit(APP, now("new"), null).join();
    submit(engine, "held", Duration.ZERO);
    submit(engine, "held2", Duration.ZERO);
    unused = other.submit("another", now("free"), null).join();

    eventually().until(() -> ran.contains("free"));
    assertThat(ran).doesNotContain("new", "held", "held2");
    assertThat(other.stats(later).orElseThrow().pauses())
        .singleElement()
        .satisfies(
            pause -> {
              assertThat(pause.scope()).isEqualTo(Pause.Scope.APPLICATION);
              assertThat(pause.reason()).isEqualTo("发布");
            });

    assertThat(engine.operations().pauseApplication(APP, null).queues()).isEqualTo(2);
    eventually().until(() -> ran.containsAll(List.of("new", "held", "held2")));

    // Pauses that cannot be read keep no queue from an engine that starts.
    try (RedisConnection connection = connections.getConnection()) {
      byte[] key = (prefix + ":{" + prefix + ":queues}:paused").getBytes(StandardCharsets.UTF_8);
      connection.stringCommands().set(key, new byte[] {'x'});
    }
    Engine last = engine(store(), options("last"), noting(ran), null);
    submit(last, "after", Duration.ZERO);
    eventually().until(() -> ran.contains("after"));
  }
}
