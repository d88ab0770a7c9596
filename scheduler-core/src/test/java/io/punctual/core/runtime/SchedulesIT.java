package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayQueueJob;
import io.punctual.core.Engine;
import io.punctual.core.QueueListener;
import io.punctual.core.Schedules;
import io.punctual.core.Schedules.Put;
import io.punctual.core.Schedules.View;
import io.punctual.core.Submit;
import io.punctual.core.calendar.Calendars;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.recur.Jobs;
import io.punctual.core.recur.ScheduleDriver;
import io.punctual.core.recur.StoreSchedules;
import io.punctual.core.schedule.Recurrence;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.schedule.ScheduleState;
import io.punctual.core.store.ScheduleStore;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.durability.Reached;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.core.store.redis.script.TimeSource;
import io.punctual.redis.Resp;
import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.WhileRunning;
import io.punctual.test.redis.RedisExtension;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Recurring schedules on a real Redis: every planned instant gets one job, and one only. */
class SchedulesIT extends EngineTestBase {

  private static final ScheduleName NAME = new ScheduleName(QUEUE, "nightly");
  private static final int MAX = 10_000;

  /** Redis's time, and what a test adds to it. */
  private static final TimeSource SETTABLE =
      new TimeSource(
          """
          local function now_ms()
            local t = redis.call('TIME')
            local set = tonumber(redis.call('GET', KEYS[#KEYS]) or '0')
            return t[1] * 1000 + math.floor(t[2] / 1000) + set
          end
          """,
          "set");

  private static ScheduleDefinition every(
      Duration every, Instant anchor, Missed missed, WhileRunning running, String params) {
    return new ScheduleDefinition(
        new Recurrence(
            null, every, anchor, ZoneOffset.UTC, Gap.SHIFT, Fold.FIRST, null, null, Set.of()),
        missed,
        null,
        running,
        Duration.ZERO,
        JobContent.of(Due.in(0)).params(params).build());
  }

  private static ScheduleDefinition seconds(WhileRunning running) {
    return every(Duration.ofSeconds(1), Instant.EPOCH, Missed.LATEST, running, "");
  }

  private static View view(Engine engine, ScheduleName name) {
    return engine.schedules().find(name).orElseThrow();
  }

  private static ScheduleState state(Engine engine) {
    return view(engine, NAME).state();
  }

  private static Instant now(Engine engine) {
    return engine.schedules().preview(seconds(WhileRunning.START), null, 1).get(0).at();
  }

  private Store settable() {
    return RedisStore.connect(
        connections, new StoreOptions(prefix, Duration.ofMinutes(10)), SETTABLE);
  }

  private void passes(Duration time) throws IOException {
    for (String key : List.of("{schedules}", "{" + APP + ":" + TYPE + ":0}")) {
      Resp.call(
          RedisExtension.redis().port(),
          "SET",
          prefix + ":" + key + ":set",
          Long.toString(time.toMillis()));
    }
  }

  @Test
  void aJobIsDeliveredAtEachPlannedInstant() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(dispatcher);
    assertThat(engine.schedules().put(NAME, seconds(WhileRunning.START), MAX).outcome())
        .isEqualTo(Put.CREATED);

    eventually().until(() -> dispatcher.seen.size() >= 3);

    List<String> seen = dispatcher.seen.stream().limit(3).toList();
    Instant first = Instant.parse(seen.get(0).substring("nightly@".length()));
    assertThat(seen)
        .containsExactly(
            NAME.taskId(first),
            NAME.taskId(first.plusSeconds(1)),
            NAME.taskId(first.plusSeconds(2)));
    assertThat(engine.schedules().delete(NAME)).isTrue();
    assertThat(engine.schedules().delete(NAME)).isFalse();
    assertThat(engine.schedules().find(NAME)).isEmpty();
  }

  @Test
  void theSameDefinitionAgainChangesNothingAndAnotherOneKeepsThePause() {
    Engine engine = engine(new TestDispatcher());
    Schedules schedules = engine.schedules();
    ScheduleDefinition daily =
        every(Duration.ofDays(1), Instant.EPOCH, Missed.NONE, WhileRunning.SKIP, "a");
    schedules.put(NAME, daily, MAX);
    ScheduleState before = state(engine);

    assertThat(schedules.put(NAME, daily, MAX).outcome()).isEqualTo(Put.UNCHANGED);
    assertThat(schedules.create(NAME, daily, MAX).outcome()).isEqualTo(Put.EXISTS);
    assertThat(state(engine)).isEqualTo(before);

    assertThat(schedules.pause(NAME, true).orElseThrow().state().pausedSince()).isNotNull();
    ScheduleDefinition hourly =
        every(Duration.ofHours(1), Instant.EPOCH, Missed.NONE, WhileRunning.SKIP, "a");
    assertThat(schedules.put(NAME, hourly, MAX).outcome()).isEqualTo(Put.REPLACED);
    assertThat(state(engine).pausedSince()).isNotNull();
    assertThat(state(engine).version()).isNotEqualTo(before.version());

    ScheduleState resumed = schedules.pause(NAME, false).orElseThrow().state();
    assertThat(resumed.pausedSince()).isNull();
    assertThat(resumed.planned()).isEqualTo(schedules.preview(hourly, null, 1).get(0).at());
    assertThat(schedules.pause(new ScheduleName(QUEUE, "none"), true)).isEmpty();
    assertThat(schedules.put(new ScheduleName(QUEUE, "more"), daily, 1).outcome())
        .isEqualTo(Put.FULL);
  }

  @Test
  void nothingFiresWhileASchedulePauses() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(dispatcher);
    engine.schedules().put(NAME, seconds(WhileRunning.START), MAX);
    eventually().until(() -> !dispatcher.seen.isEmpty());

    engine.schedules().pause(NAME, true);
    ScheduleState paused = state(engine);
    ScheduleName other = new ScheduleName(QUEUE, "other");
    engine.schedules().put(other, seconds(WhileRunning.START), MAX);
    eventually().until(() -> view(engine, other).state().fired() >= 2);

    assertThat(state(engine)).isEqualTo(paused);
  }

  @Test
  void anOccurrenceIsSkippedOrWaitsWhileTheJobBeforeRuns() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    engine.schedules().put(NAME, seconds(WhileRunning.QUEUE), MAX);
    var first = dispatcher.next();
    eventually().until(() -> state(engine).skipped() >= 1);
    Instant waiting = state(engine).waiting();
    assertThat(waiting).isNotNull();
    assertThat(dispatcher.seen).hasSize(1);

    first.done().join();

    assertThat(dispatcher.next().taskId()).isEqualTo(NAME.taskId(waiting));
    engine.schedules().pause(NAME, true);
  }

  @Test
  void aJobIsRunByHandAndInstantsAreMadeUpFor() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    ScheduleDefinition daily =
        every(Duration.ofDays(1), Instant.EPOCH, Missed.NONE, WhileRunning.SKIP, "a");
    engine.schedules().put(NAME, daily, MAX);
    final ScheduleState before = state(engine);

    String taskId = engine.schedules().run(NAME).orElseThrow().taskId();
    var delivery = dispatcher.next();
    assertThat(delivery.taskId()).isEqualTo(taskId);
    assertThat(delivery.content().params()).isEqualTo("a");
    assertThat(state(engine)).isEqualTo(before);
    delivery.done().join();

    Instant from = Instant.parse("2026-01-01T00:00:00Z");
    assertThat(
            engine
                .schedules()
                .backfill(NAME, from, from.plus(Duration.ofDays(9)), 3)
                .orElseThrow()
                .runs())
        .extracting(Schedules.Run::planned)
        .containsExactly(from, from.plus(Duration.ofDays(1)), from.plus(Duration.ofDays(2)));
    for (int i = 0; i < 3; i++) {
      dispatcher.next().done().join();
    }
    assertThat(engine.schedules().run(new ScheduleName(QUEUE, "none"))).isEmpty();
  }

  /** Calls to the store that do not get through. */
  private record Broken(ScheduleStore real, boolean arrives) implements ScheduleStore {

    @Override
    public Found find(ScheduleName name) {
      return real.find(name);
    }

    @Override
    public Due due(int max, Duration claim) {
      return real.due(max, claim);
    }

    @Override
    public Page list(
        @Nullable String application, @Nullable String taskType, @Nullable String last, int max) {
      return real.list(application, taskType, last, max);
    }

    @Override
    public Written write(List<Change> changes, int max, boolean durably) {
      if (arrives) {
        real.write(changes, max, durably);
      }
      throw new StoreException(StoreException.Kind.UNREACHABLE, "broken by the test");
    }

    @Override
    public int declare(String application, List<ScheduleName> names) {
      return real.declare(application, names);
    }
  }

  private static Jobs jobs(Engine engine) {
    return new Jobs() {
      @Override
      public CompletableFuture<Submit> submit(
          String application, DelayQueueJob job, String submitter) {
        return engine.submit(application, job, submitter);
      }

      @Override
      public Optional<JobView> find(QueueName queue, String taskId) {
        return engine.find(queue, taskId);
      }
    };
  }

  private static ScheduleDriver driver(Engine engine, ScheduleStore store) {
    return new ScheduleDriver(store, jobs(engine), engine.calendars(), queue -> QueueListener.NONE);
  }

  private static long turn(ScheduleDriver driver) {
    long millis;
    do {
      millis = driver.turn(System::nanoTime);
    } while (millis == 0);
    return millis;
  }

  /** Takes jobs and fires nothing: the test does. */
  private Engine passive(Store store, TestDispatcher dispatcher) {
    return engine(store, options("passive"), dispatcher, null);
  }

  /** Its own schedules are elsewhere, so that the test's drivers are alone with these. */
  private Engine withoutSchedules(Store store, TestDispatcher dispatcher) {
    ScheduleStore elsewhere =
        RedisStore.connect(
                connections, new StoreOptions(prefix + "e", Duration.ofMinutes(10)), SETTABLE)
            .schedules();
    return passive(
        new Store(
            store.jobs(),
            store.queues(),
            store.wakeUps(),
            store.members(),
            store.inspector(),
            store.epoch(),
            store.calls(),
            elsewhere,
            store.calendars()),
        dispatcher);
  }

  @Test
  void aCrashBetweenSubmittingAndMovingOnMakesNoSecondJob() throws IOException {
    TestDispatcher dispatcher = TestDispatcher.done();
    Store store = settable();
    Engine engine = withoutSchedules(store, dispatcher);
    ScheduleStore real = store.schedules();
    Schedules schedules = new StoreSchedules(real, jobs(engine), engine.calendars(), () -> {});
    ScheduleDefinition hourly =
        every(Duration.ofHours(1), Instant.EPOCH, Missed.ALL, WhileRunning.START, "");
    schedules.put(NAME, hourly, MAX);
    Instant first = schedules.find(NAME).orElseThrow().state().planned();
    assertThat(first).isNotNull();
    Duration passed = Duration.between(Instant.ofEpochMilli(real.find(NAME).now()), first);

    passes(passed);
    assertThatThrownBy(() -> turn(driver(engine, new Broken(real, false))))
        .isInstanceOf(StoreException.class);
    eventually().until(() -> dispatcher.seen.contains(NAME.taskId(first)));
    // It is as it was; and while it is taken, nothing happens.
    assertThat(schedules.find(NAME).orElseThrow().state().planned()).isEqualTo(first);
    turn(driver(engine, real));
    assertThat(schedules.find(NAME).orElseThrow().state().planned()).isEqualTo(first);

    passes(passed.plusSeconds(11));
    turn(driver(engine, real));
    ScheduleState state = schedules.find(NAME).orElseThrow().state();
    assertThat(state.planned()).isEqualTo(first.plus(Duration.ofHours(1)));
    assertThat(state.fired()).isEqualTo(1);
    assertThat(dispatcher.seen).containsExactly(NAME.taskId(first));

    // The answer to the move is lost: it took effect.
    passes(passed.plus(Duration.ofHours(1)));
    assertThatThrownBy(() -> turn(driver(engine, new Broken(real, true))))
        .isInstanceOf(StoreException.class);
    passes(passed.plus(Duration.ofHours(1)).plusSeconds(11));
    turn(driver(engine, real));
    assertThat(schedules.find(NAME).orElseThrow().state().fired()).isEqualTo(2);
    eventually().until(() -> dispatcher.seen.size() == 2);
  }

  @Test
  void anOccurrenceThatWasCancelledBeforeItsScheduleMovedOnDoesNotComeBack() throws IOException {
    TestDispatcher dispatcher = TestDispatcher.done();
    Store store = settable();
    Engine engine = withoutSchedules(store, dispatcher);
    ScheduleStore real = store.schedules();
    Schedules schedules = new StoreSchedules(real, jobs(engine), engine.calendars(), () -> {});
    // Its jobs are due a day later: there is time to cancel one.
    ScheduleDefinition later =
        new ScheduleDefinition(
            hourly(Missed.ALL, WhileRunning.START, "").recurrence(),
            Missed.ALL,
            null,
            WhileRunning.START,
            Duration.ofHours(24),
            JobContent.of(Due.in(0)).build());
    schedules.put(NAME, later, MAX);
    Instant first = schedules.find(NAME).orElseThrow().state().planned();
    assertThat(first).isNotNull();
    Duration passed = Duration.between(Instant.ofEpochMilli(real.find(NAME).now()), first);
    passes(passed);
    assertThatThrownBy(() -> turn(driver(engine, new Broken(real, false))))
        .isInstanceOf(StoreException.class);
    var unused = engine.operations().cancel(QUEUE, NAME.taskId(first), null);
    assertThat(engine.find(QUEUE, NAME.taskId(first)).orElseThrow().state())
        .isEqualTo(JobState.CANCELLED);

    passes(passed.plusSeconds(11));
    turn(driver(engine, real));

    assertThat(schedules.find(NAME).orElseThrow().state().planned())
        .isEqualTo(first.plus(Duration.ofHours(1)));
    assertThat(engine.find(QUEUE, NAME.taskId(first)).orElseThrow().state())
        .isEqualTo(JobState.CANCELLED);
  }

  @Test
  void whatNoInstanceHasInItsCodeIsOrphanedUntilOneHasItAgain() throws IOException {
    ScheduleStore store = settable().schedules();
    Schedules schedules = schedules(store);
    ScheduleName gone = new ScheduleName(QUEUE, "gone");
    ScheduleDefinition hourly = hourly(Missed.LATEST, WhileRunning.SKIP, "");
    for (ScheduleName name : List.of(NAME, gone)) {
      schedules.put(name, hourly, MAX);
      assertThat(origin(schedules, name)).isEqualTo(Schedules.Origin.API);
    }
    assertThat(schedules.declare(APP, List.of(NAME, gone))).isEqualTo(2);
    assertThat(origin(schedules, gone)).isEqualTo(Schedules.Origin.CODE);

    // A rolling deploy: the new version declares, and the old one still does.
    schedules.declare(APP, List.of(NAME));
    passes(Duration.ofMinutes(5));
    schedules.declare(APP, List.of(NAME, gone));
    schedules.declare(APP, List.of(NAME));
    // The old one is gone, but the night passes without any instance, so none declares.
    passes(Duration.ofHours(8));
    assertThat(origin(schedules, gone)).isEqualTo(Schedules.Origin.CODE);
    schedules.declare(APP, List.of(NAME));
    assertThat(origin(schedules, NAME)).isEqualTo(Schedules.Origin.CODE);
    assertThat(origin(schedules, gone)).isEqualTo(Schedules.Origin.ORPHANED);
    assertThat(schedules.list(APP, null, null, 10).schedules())
        .extracting(View::origin)
        .containsExactly(Schedules.Origin.ORPHANED, Schedules.Origin.CODE);

    // It goes on, paused or not, and a pause changes nothing here.
    assertThat(schedules.pause(gone, true).orElseThrow().origin())
        .isEqualTo(Schedules.Origin.ORPHANED);
    // The deploy is taken back: the same definition again.
    assertThat(schedules.put(gone, hourly, MAX).outcome()).isEqualTo(Put.UNCHANGED);
    schedules.declare(APP, List.of(NAME, gone));
    assertThat(origin(schedules, gone)).isEqualTo(Schedules.Origin.CODE);
    assertThat(view(schedules, gone).state().pausedSince()).isNotNull();
    // An operator makes it another one.
    schedules.put(gone, seconds(WhileRunning.SKIP), MAX);
    assertThat(origin(schedules, gone)).isEqualTo(Schedules.Origin.API);
  }

  private static View view(Schedules schedules, ScheduleName name) {
    return schedules.find(name).orElseThrow();
  }

  private static Schedules.Origin origin(Schedules schedules, ScheduleName name) {
    return view(schedules, name).origin();
  }

  /** Takes jobs, but for some. */
  private static final class FakeJobs implements Jobs {

    private final Set<String> refused = new TreeSet<>();
    private final List<DelayQueueJob> taken = new ArrayList<>();

    @Override
    public CompletableFuture<Submit> submit(
        String application, DelayQueueJob job, String submitter) {
      if (refused.contains(job.taskId())) {
        return CompletableFuture.failedFuture(
            new StoreException(StoreException.Kind.REFUSED, "refused by the test"));
      }
      taken.add(job);
      return CompletableFuture.completedFuture(
          new Submit(Submitted.Kind.CREATED, 0, 0, null, List.of(), Reached.REDIS));
    }

    @Override
    public Optional<JobView> find(QueueName queue, String taskId) {
      if (refused.contains(taskId)) {
        throw new StoreException(StoreException.Kind.UNREACHABLE, "broken by the test");
      }
      return Optional.empty();
    }

    List<String> ids() {
      return taken.stream().map(DelayQueueJob::taskId).toList();
    }
  }

  private final FakeJobs jobs = new FakeJobs();

  private Schedules schedules(ScheduleStore store) {
    return new StoreSchedules(store, jobs, calendars(), () -> {});
  }

  private Calendars calendars() {
    return new Calendars(store().calendars(), System::nanoTime);
  }

  private static ScheduleDefinition hourly(Missed missed, WhileRunning running, String params) {
    return every(Duration.ofHours(1), Instant.EPOCH, missed, running, params);
  }

  private static Instant planned(Schedules schedules, ScheduleName name) {
    return schedules.find(name).orElseThrow().state().planned();
  }

  @Test
  void aScheduleWhoseJobsAreRefusedKeepsNoOtherFromMovingOn() throws IOException {
    ScheduleStore store = settable().schedules();
    Schedules schedules = schedules(store);
    ScheduleDriver driver =
        new ScheduleDriver(store, jobs, calendars(), queue -> QueueListener.NONE);
    ScheduleName refused = new ScheduleName(QUEUE, "refused");
    ScheduleName unknown = new ScheduleName(QUEUE, "unknown");
    List<ScheduleName> good =
        IntStream.range(0, 45).mapToObj(i -> new ScheduleName(QUEUE, "s-" + i)).toList();
    good.forEach(name -> schedules.put(name, hourly(Missed.ALL, WhileRunning.START, ""), MAX));
    schedules.put(refused, hourly(Missed.ALL, WhileRunning.START, ""), MAX);
    schedules.put(unknown, hourly(Missed.LATEST, WhileRunning.SKIP, ""), MAX);
    Instant first = planned(schedules, unknown);
    Duration hour = Duration.ofHours(1);
    Duration passed = Duration.between(Instant.ofEpochMilli(store.find(NAME).now()), first);

    jobs.refused.add(refused.taskId(first));
    passes(passed);
    turn(driver);
    assertThat(good).allMatch(name -> planned(schedules, name).equals(first.plus(hour)));
    assertThat(planned(schedules, unknown)).isEqualTo(first.plus(hour));
    assertThat(planned(schedules, refused)).isEqualTo(first);

    // Whether the job before runs cannot be found out.
    jobs.refused.add(unknown.taskId(first));
    passes(passed.plus(hour));
    turn(driver);
    assertThat(good).allMatch(name -> planned(schedules, name).equals(first.plus(hour).plus(hour)));
    assertThat(planned(schedules, unknown)).isEqualTo(first.plus(hour));
    assertThat(planned(schedules, refused)).isEqualTo(first);

    jobs.refused.clear();
    passes(passed.plus(hour).plusSeconds(11));
    turn(driver);
    assertThat(planned(schedules, unknown)).isEqualTo(first.plus(hour).plus(hour));
    assertThat(planned(schedules, refused)).isEqualTo(first.plus(hour).plus(hour));
  }

  @Test
  void whatWasSubmittedOfAnOutageIsNotSubmittedAgainForOneThatIsRefused() throws IOException {
    ScheduleStore store = settable().schedules();
    Schedules schedules = schedules(store);
    ScheduleDriver driver =
        new ScheduleDriver(store, jobs, calendars(), queue -> QueueListener.NONE);
    schedules.put(NAME, hourly(Missed.ALL, WhileRunning.START, "p".repeat(200_000)), MAX);
    Instant first = planned(schedules, NAME);
    Duration passed =
        Duration.between(Instant.ofEpochMilli(store.find(NAME).now()), first)
            .plus(Duration.ofHours(39));
    List<Instant> all =
        IntStream.range(0, 41).mapToObj(i -> first.plus(Duration.ofHours(i))).toList();
    jobs.refused.add(NAME.taskId(all.get(10)));

    passes(passed);
    turn(driver);
    ScheduleState part = schedules.find(NAME).orElseThrow().state();
    assertThat(part.planned()).isEqualTo(all.get(10));
    assertThat(part.last()).isEqualTo(all.get(9));
    assertThat(part.fired()).isEqualTo(10);
    // Not all 39, which have 8 MB.
    assertThat(jobs.taken).hasSizeLessThan(25);

    jobs.refused.clear();
    jobs.taken.clear();
    passes(passed.plusSeconds(11));
    turn(driver);
    assertThat(schedules.find(NAME).orElseThrow().state().fired()).isEqualTo(40);
    assertThat(jobs.ids()).isEqualTo(all.subList(10, 40).stream().map(NAME::taskId).toList());
  }

  @Test
  void aBackfillAnswersWhatWasDoneAndWhereToGoOn() {
    ScheduleStore store = store().schedules();
    Schedules schedules = schedules(store);
    schedules.put(NAME, hourly(Missed.NONE, WhileRunning.START, "p".repeat(200_000)), MAX);
    Instant from = Instant.parse("2026-01-01T00:00:00Z");
    Instant until = from.plus(Duration.ofHours(99));

    Schedules.Backfill large = schedules.backfill(NAME, from, until, 100).orElseThrow();
    assertThat(large.runs()).hasSizeBetween(10, 25);
    assertThat(large.next()).isEqualTo(from.plus(Duration.ofHours(large.runs().size())));

    jobs.refused.add(NAME.taskId(from.plus(Duration.ofHours(2))));
    Schedules.Backfill part = schedules.backfill(NAME, from, until, 5).orElseThrow();
    assertThat(part.runs()).hasSize(2);
    assertThat(part.next()).isEqualTo(from.plus(Duration.ofHours(2)));
    assertThatThrownBy(() -> schedules.backfill(NAME, part.next(), until, 5))
        .isInstanceOf(StoreException.class);
    assertThat(schedules.backfill(NAME, from, from, 5).orElseThrow().next()).isNull();
  }

  @Test
  void whatIsAsItShouldBeIsWrittenAgainAsItMayNotBeConfirmed() {
    ScheduleStore real = store().schedules();
    Schedules schedules = schedules(real);
    Schedules broken = schedules(new Broken(real, false));
    ScheduleDefinition hourly = hourly(Missed.NONE, WhileRunning.START, "");
    schedules.put(NAME, hourly, MAX);
    final ScheduleState put = schedules.find(NAME).orElseThrow().state();
    assertThatThrownBy(() -> broken.put(NAME, hourly, MAX)).isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> broken.pause(NAME, false)).isInstanceOf(StoreException.class);
    assertThat(schedules.pause(NAME, false).orElseThrow().state()).isEqualTo(put);
    ScheduleState paused = schedules.pause(NAME, true).orElseThrow().state();
    assertThatThrownBy(() -> broken.pause(NAME, true)).isInstanceOf(StoreException.class);
    assertThat(schedules.pause(NAME, true).orElseThrow().state()).isEqualTo(paused);
  }

  @Test
  void aChangeThatLeavesTheTimesLeavesWhatIsPlanned() throws IOException {
    Schedules schedules = schedules(settable().schedules());
    schedules.put(NAME, hourly(Missed.ALL, WhileRunning.START, "a"), MAX);
    Instant planned = planned(schedules, NAME);
    passes(Duration.ofHours(5));

    assertThat(schedules.put(NAME, hourly(Missed.ALL, WhileRunning.START, "b"), MAX).outcome())
        .isEqualTo(Put.REPLACED);
    assertThat(planned(schedules, NAME)).isEqualTo(planned);
    schedules.put(
        NAME, every(Duration.ofHours(2), Instant.EPOCH, Missed.ALL, WhileRunning.START, "b"), MAX);
    assertThat(planned(schedules, NAME)).isAfter(planned.plus(Duration.ofHours(3)));
  }

  @Test
  void oneThatHasEndedIsPutAgainAndNotChanged() throws IOException {
    ScheduleStore store = settable().schedules();
    Schedules schedules = schedules(store);
    Recurrence hours = hourly(Missed.ALL, WhileRunning.START, "").recurrence();
    Instant until = Instant.ofEpochMilli(store.find(NAME).now()).plus(Duration.ofHours(2));
    Recurrence ending =
        new Recurrence(
            null,
            hours.every(),
            Instant.EPOCH,
            ZoneOffset.UTC,
            Gap.SHIFT,
            Fold.FIRST,
            null,
            until,
            Set.of());
    schedules.put(NAME, definition(ending, Duration.ZERO, "a"), MAX);
    passes(Duration.ofHours(3));

    assertThat(schedules.put(NAME, definition(ending, Duration.ZERO, "a"), MAX).outcome())
        .isEqualTo(Put.UNCHANGED);
    assertThatThrownBy(() -> schedules.put(NAME, definition(ending, Duration.ZERO, "b"), MAX))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("every never fires from now on");
  }

  private static ScheduleDefinition definition(
      Recurrence recurrence, Duration jitter, String params) {
    return new ScheduleDefinition(
        recurrence,
        Missed.LATEST,
        null,
        WhileRunning.SKIP,
        jitter,
        JobContent.of(Due.in(0)).params(params).build());
  }

  @Test
  void jitterIsLessThanTheTimeBetweenTwoRunsAndARunByHandHasNone() {
    ScheduleStore store = store().schedules();
    Schedules schedules = schedules(store);
    Recurrence hours = hourly(Missed.NONE, WhileRunning.SKIP, "").recurrence();
    assertThatThrownBy(() -> schedules.put(NAME, definition(hours, Duration.ofHours(1), ""), MAX))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("jitter must be less than PT1H");
    schedules.put(NAME, definition(hours, Duration.ofMinutes(59), ""), MAX);
    final ScheduleState before = schedules.find(NAME).orElseThrow().state();

    for (int i = 0; i < 3; i++) {
      Schedules.Run run = schedules.run(NAME).orElseThrow();
      assertThat(jobs.taken.get(i).delayTime()).isEqualTo(run.planned().toEpochMilli());
    }
    assertThat(schedules.find(NAME).orElseThrow().state()).isEqualTo(before);
  }

  @Test
  void oneThatCannotBeReadHidesNoOther() {
    ScheduleStore store = store().schedules();
    Schedules schedules = schedules(store);
    ScheduleDefinition hourly = hourly(Missed.NONE, WhileRunning.START, "");
    ScheduleName other = new ScheduleName(QUEUE, "other");
    schedules.put(NAME, hourly, MAX);
    schedules.put(other, hourly, MAX);
    String state = store.find(NAME).schedule().state();
    store.write(
        List.of(new ScheduleStore.Change(NAME, state, new byte[] {1}, state, null)), 0, false);

    Schedules.Page page = schedules.list(null, null, null, 10);
    assertThat(page.schedules()).extracting(View::name).containsExactly(other);
    assertThat(page.damaged()).containsExactly(NAME);
    assertThatThrownBy(() -> schedules.find(NAME))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("put it again, or delete it");
    assertThat(schedules.put(NAME, hourly, MAX).outcome()).isEqualTo(Put.REPLACED);
    assertThat(schedules.find(NAME)).isPresent();
  }

  @Test
  void theFirstMomentsAfterAnOutageOfSixHoursFollowTheRuleForMissedOccurrences()
      throws IOException {
    Map<Missed, ScheduleName> names =
        Map.of(
            Missed.NONE,
            new ScheduleName(QUEUE, "none"),
            Missed.LATEST,
            new ScheduleName(QUEUE, "latest"),
            Missed.ALL,
            new ScheduleName(QUEUE, "all"));
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(settable(), options("engine"), dispatcher, null);
    Instant begin = now(engine);
    // Half an hour from now, and each hour after it.
    Instant anchor = begin.plus(Duration.ofMinutes(30));
    names.forEach(
        (missed, name) ->
            engine
                .schedules()
                .put(
                    name, every(Duration.ofHours(1), anchor, missed, WhileRunning.START, ""), MAX));

    passes(Duration.ofHours(6));

    eventually()
        .until(
            () ->
                names.values().stream()
                    .allMatch(
                        name ->
                            anchor
                                .plus(Duration.ofHours(6))
                                .equals(view(engine, name).state().planned())));
    assertThat(view(engine, names.get(Missed.NONE)).state().missed()).isEqualTo(6);
    assertThat(view(engine, names.get(Missed.LATEST)).state().fired()).isEqualTo(1);
    assertThat(view(engine, names.get(Missed.LATEST)).state().missed()).isEqualTo(5);
    assertThat(view(engine, names.get(Missed.ALL)).state().fired()).isEqualTo(6);
    eventually().until(() -> dispatcher.seen.size() == 7);
    assertThat(dispatcher.seen)
        .contains("latest@" + anchor.plus(Duration.ofHours(5)), "all@" + anchor);
  }

  /** Engines come and go in the middle of what they do. */
  @Tag("full")
  @Test
  void threeEnginesThatAreKilledMissNothingAndFireNothingTwice() {
    int count = Integer.getInteger("punctual.test.schedules", 300);
    Map<String, Integer> delivered = new ConcurrentHashMap<>();
    List<Engine> engines = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      engines.add(counting("engine-" + i, delivered));
    }
    List<ScheduleName> names =
        IntStream.range(0, count).mapToObj(i -> new ScheduleName(QUEUE, "s-" + i)).toList();
    Map<ScheduleName, Instant> first = new ConcurrentHashMap<>();
    for (ScheduleName name : names) {
      View put =
          engines
              .get(0)
              .schedules()
              .put(
                  name,
                  every(Duration.ofSeconds(2), Instant.EPOCH, Missed.ALL, WhileRunning.START, ""),
                  count)
              .schedule();
      first.put(name, put.state().planned());
    }
    Random random = new Random(7);
    for (int kills = 0; kills < 8; kills++) {
      int goal = (kills + 1) * count / 2;
      eventually().until(() -> delivered.size() >= goal);
      int killed = random.nextInt(3);
      engines.get(killed).close();
      engines.set(killed, counting("again-" + kills, delivered));
    }
    Engine engine = engines.get(0);
    names.forEach(name -> engine.schedules().pause(name, true));
    // A turn that began before the pause may still submit what it has planned.
    eventually().until(() -> delivered.keySet().equals(planned(engine, names, first)));
    eventually().until(() -> delivered.keySet().stream().noneMatch(id -> isOpen(engine, id)));
  }

  /** The jobs of all instants so far. */
  private static Set<String> planned(
      Engine engine, List<ScheduleName> names, Map<ScheduleName, Instant> first) {
    Set<String> planned = new HashSet<>();
    for (ScheduleName name : names) {
      ScheduleState state = view(engine, name).state();
      assertThat(state.missed() + state.skipped()).isZero();
      Instant at = first.get(name);
      int fired = 0;
      while (at.isBefore(state.planned())) {
        planned.add(name.taskId(at));
        at = at.plusSeconds(2);
        fired++;
      }
      assertThat(state.fired()).isEqualTo(fired);
      // What was submitted just before the pause, and not moved on.
      while (engine.find(QUEUE, name.taskId(at)).isPresent()) {
        planned.add(name.taskId(at));
        at = at.plusSeconds(2);
      }
    }
    return planned;
  }

  private static boolean isOpen(Engine engine, String taskId) {
    return engine.find(QUEUE, taskId).filter(job -> job.state() != JobState.FINISHED).isPresent();
  }

  private Engine counting(String owner, Map<String, Integer> delivered) {
    return engine(
        store(),
        options(owner),
        new TestDispatcher(
            delivery -> {
              delivered.merge(delivery.taskId(), 1, Integer::sum);
              var unused = delivery.done();
            }),
        null);
  }
}
