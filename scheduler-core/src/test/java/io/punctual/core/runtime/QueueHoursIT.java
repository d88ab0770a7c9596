package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayQueueJob;
import io.punctual.core.Engine;
import io.punctual.core.PullRequest;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.store.JobStore;
import io.punctual.schedule.TimeRules;
import io.punctual.schedule.Windows;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnection;

/** No job starts outside of the hours of its queue, in push and pull mode. */
class QueueHoursIT extends EngineTestBase {

  private static TimeRules hours(String window) {
    return new TimeRules(null, null, null, Windows.parse(window), null, null);
  }

  @Test
  void noEngineDeliversWhileTheQueueIsClosedAndAllDoOnceItIsOpen() {
    TestDispatcher here = TestDispatcher.done();
    TestDispatcher there = TestDispatcher.done();
    Engine one = engine(store(), options("one"), here, null);
    Engine two = engine(store(), options("two"), there, null);
    submit(one, "first", Duration.ZERO);
    eventually().until(() -> here.seen.size() + there.seen.size() == 1);

    one.operations().hours(QUEUE, inDays());
    for (int i = 0; i < 20; i++) {
      submit(i % 2 == 0 ? one : two, "job-" + i, Duration.ZERO);
    }
    eventually().until(() -> two.stats(QUEUE).orElseThrow().closedUntil() != null);
    // Jobs of a queue without hours go out meanwhile.
    for (int i = 0; i < 20; i++) {
      var unused =
          (i % 2 == 0 ? one : two)
              .submit(
                  APP,
                  DelayQueueJob.of("other").taskId("o" + i).delay(Duration.ZERO).build(),
                  false);
    }
    eventually().until(() -> here.seen.size() + there.seen.size() == 21);
    assertThat(one.stats(QUEUE).orElseThrow().ready()).isEqualTo(20);

    one.close();
    Engine three = engine(store(), options("three"), here, null);
    eventually().until(() -> three.stats(QUEUE).isPresent());
    assertThat(three.stats(QUEUE).orElseThrow().hours()).isEqualTo(inDays());
    assertThat(three.stats(QUEUE).orElseThrow().ready()).isEqualTo(20);

    two.operations().hours(QUEUE, hours("00:00-24:00"));
    eventually().until(() -> here.seen.size() + there.seen.size() == 41);
  }

  @Test
  void jobsGoOutWhenTheOpeningBegins() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(dispatcher);
    long opens = submitBeforeOpening(engine, "a");

    eventually().until(() -> dispatcher.seen.contains("a"));
    assertThat(store().jobs().stats(new Bucket(QUEUE, 0)).now()).isGreaterThanOrEqualTo(opens);
  }

  @Test
  void aPullGetsNothingAndIsToldSo() {
    TestDispatcher none = new TestDispatcher();
    none.capacity.set(0);
    Engine engine = engine(none);
    submit(engine, "a", Duration.ofHours(1));
    engine.operations().hours(QUEUE, inDays());
    var unused = engine.operations().revise(QUEUE, "a", Due.in(0), null, null);
    PullRequest request =
        new PullRequest(List.of(QUEUE), 1, Duration.ofMillis(300), null, "tester");

    assertThat(engine.claims().pull(request).join()).isEmpty();
    assertThat(engine.claims().paused(List.of(QUEUE))).containsExactly(QUEUE);

    engine.operations().hours(QUEUE, TimeRules.NONE);
    eventually().until(() -> engine.claims().pull(request).join().size() == 1);
  }

  @Test
  void aJobExpiresWhileItsQueueIsClosed() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(dispatcher);
    submit(engine, "known", Duration.ofHours(1));
    engine.operations().hours(QUEUE, inDays());
    submit(engine, "a", job -> job.delay(Duration.ZERO).expiresIn(Duration.ofMillis(100)));

    eventually().until(() -> engine.find(QUEUE, "a").orElseThrow().state() == JobState.DEAD);
    assertThat(engine.find(QUEUE, "a").orElseThrow().deathReason()).isEqualTo("expired");
    assertThat(dispatcher.seen).isEmpty();
  }

  @Test
  void hoursThatThisEngineCannotReadKeepTheQueueClosedAndAreNamed() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ofHours(1));
    JobStore jobs = store().jobs();
    Bucket bucket = new Bucket(QUEUE, 0);
    // As a scheduler with newer time zones may write it.
    var head = jobs.hours(bucket, "00:00-24:00\nMars/Base\n");
    var unused = engine.operations().revise(QUEUE, "a", Due.in(0), null, null);
    submit(engine, "b", job -> job.delay(Duration.ZERO).expiresIn(Duration.ofMillis(100)));

    // It was looked at, and nothing else waits for it.
    eventually().until(() -> engine.find(QUEUE, "b").orElseThrow().state() == JobState.DEAD);
    assertThat(head).isNotNull();
    assertThat(dispatcher.seen).isEmpty();
    assertThat(engine.stats(QUEUE).orElseThrow().damage()).contains("Mars/Base");
    assertThat(jobs.stats(bucket).closedUntil()).isZero();

    engine.operations().hours(QUEUE, hours("00:00-24:00"));
    eventually().until(() -> dispatcher.seen.contains("a"));
    assertThat(engine.stats(QUEUE).orElseThrow().damage()).isNull();
  }

  @Test
  void calendarsThatCannotBeReadKeepNothingElseFromBeingDoneOrSeen() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine before = engine(dispatcher);
    submit(before, "held", Duration.ZERO);
    eventually().until(() -> dispatcher.seen.contains("held"));
    before.calendars().put("holidays", List.of());
    before.operations().hours(QUEUE, new TimeRules(null, null, null, null, null, "holidays"));
    TestDispatcher done = TestDispatcher.done();
    byte[] key = (prefix + ":calendars").getBytes(StandardCharsets.UTF_8);
    try (RedisConnection redis = connections.getConnection()) {
      redis.keyCommands().del(key);
      redis.stringCommands().set(key, new byte[] {'x'});
    }
    before.close();

    Engine engine = engine(store(), options("after"), done, null);
    submit(engine, "a", job -> job.delay(Duration.ZERO).expiresIn(Duration.ofMillis(100)));
    submit(engine, "b", Duration.ZERO);

    eventually().until(() -> engine.find(QUEUE, "a").orElseThrow().state() == JobState.DEAD);
    eventually().until(() -> engine.find(QUEUE, "held").orElseThrow().state() == JobState.DELAYED);
    assertThat(done.seen).isEmpty();
    assertThat(engine.stats(QUEUE).orElseThrow().damage())
        .contains(prefix + ":calendars: WRONGTYPE");

    try (RedisConnection redis = connections.getConnection()) {
      redis.keyCommands().del(key);
    }
    eventually().until(() -> done.seen.contains("b") && done.seen.contains("held"));
    assertThat(engine.stats(QUEUE).orElseThrow().damage()).isNull();
  }

  @Test
  void aQueueThatIsNotKnownHasNoHours() {
    Engine engine = engine(new TestDispatcher());
    assertThatThrownBy(() -> engine.operations().hours(QUEUE, inDays()))
        .isInstanceOf(NoSuchElementException.class);
  }
}
