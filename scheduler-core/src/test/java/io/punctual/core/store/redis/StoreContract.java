package io.punctual.core.store.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.Expired;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Members;
import io.punctual.core.store.QueueDirectory;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Revised;
import io.punctual.core.store.Revision;
import io.punctual.core.store.ScheduleStore;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.WakeUps;
import io.punctual.core.store.instance.InstanceMarks;
import io.punctual.core.store.instance.RegisteredWorkers;
import io.punctual.core.store.instance.RegisteredWorkers.Bound;
import io.punctual.core.store.instance.RegisteredWorkers.Worker;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.core.store.redis.script.TimeSource;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.DataType;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** What a store keeps on every shape of Redis, by Redis's own clock. */
abstract class StoreContract {

  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Bound TWO = new Bound(2, 100);
  private static final Bound MANY = new Bound(100, 1_000);
  private static final List<Settlement.Op> RETURNING =
      List.of(
          Settlement.Op.FAILED,
          Settlement.Op.UNKNOWN,
          Settlement.Op.UNDELIVERABLE,
          Settlement.Op.RELEASED,
          Settlement.Op.RETURNED);

  final StoreOptions options =
      new StoreOptions(
          "c" + UUID.randomUUID().toString().substring(0, 8), StoreOptions.DEFAULTS.tombstones());
  final Store store = RedisStore.connect(connections(), options);
  final JobStore jobs = store.jobs();
  final Bucket bucket = bucket(0);

  /** To the Redis under test. */
  abstract RedisConnectionFactory connections();

  /** The ports of all servers that hold data, on 127.0.0.1. */
  abstract List<Integer> servers();

  static Bucket bucket(int index) {
    return new Bucket(new QueueName("shop", "order.close"), index);
  }

  static Submission job(String id, Due due) {
    return new Submission(
        id,
        "i-" + id.replace('@', '-'),
        due,
        3,
        0,
        List.of(),
        BucketReader.bytes("body of " + id),
        /* replace= */ false);
  }

  static Settlement end(Settlement.Op op, ClaimedJob job) {
    return new Settlement(
        op,
        job.taskId(),
        job.record().incarnation(),
        job.token(),
        Duration.ZERO,
        /* alone= */ false,
        BucketReader.bytes("note"));
  }

  final Submitted.Kind submit(Bucket bucket, String id, Due due) {
    return jobs.submit(bucket, List.of(job(id, due))).items().get(0).kind();
  }

  final List<ClaimedJob> claim(Bucket bucket) {
    return jobs.claim(
            bucket,
            200,
            LEASE,
            JobStore.ClaimMode.PUSH,
            new LeaseToken("t-" + UUID.randomUUID()),
            "me")
        .jobs();
  }

  static ConditionFactory eventually() {
    return Awaitility.await().atMost(Duration.ofSeconds(30));
  }

  private static final ScheduleName NIGHTLY =
      new ScheduleName(new QueueName("shop", "a:b"), "nightly");

  private ScheduleStore.Outcome write(
      ScheduleName name,
      @Nullable String expected,
      @Nullable String definition,
      @Nullable String state,
      @Nullable Long look) {
    return store
        .schedules()
        .write(
            List.of(
                new ScheduleStore.Change(
                    name,
                    expected,
                    definition == null ? null : BucketReader.bytes(definition),
                    state,
                    look)),
            2,
            /* durably= */ look != null)
        .outcomes()
        .get(0);
  }

  private List<String> taken() {
    return store.schedules().due(200, Duration.ofMinutes(1)).schedules().stream()
        .map(ScheduleStore.Stored::state)
        .toList();
  }

  @Test
  void aScheduleIsChangedOnlyAsItWasSeen() {
    ScheduleStore schedules = store.schedules();
    long now = schedules.find(NIGHTLY).now();
    assertThat(schedules.find(NIGHTLY).schedule()).isNull();

    assertThat(write(NIGHTLY, "s0", "d", "s1", now)).isEqualTo(ScheduleStore.Outcome.CHANGED);
    assertThat(write(NIGHTLY, null, "d", "s1", now)).isEqualTo(ScheduleStore.Outcome.DONE);
    assertThat(write(NIGHTLY, null, "e", "s2", now)).isEqualTo(ScheduleStore.Outcome.CHANGED);
    assertThat(write(NIGHTLY, "s1", null, "s2", now)).isEqualTo(ScheduleStore.Outcome.DONE);

    ScheduleStore.Stored stored = schedules.find(NIGHTLY).schedule();
    assertThat(stored).isNotNull();
    assertThat(stored.definition()).asString(StandardCharsets.UTF_8).isEqualTo("d");
    assertThat(stored.state()).isEqualTo("s2");
    assertThat(write(NIGHTLY, "s1", null, null, null)).isEqualTo(ScheduleStore.Outcome.CHANGED);
    assertThat(write(NIGHTLY, "s2", null, null, null)).isEqualTo(ScheduleStore.Outcome.DONE);
    assertThat(schedules.find(NIGHTLY).schedule()).isNull();
    assertThat(schedules.list(null, null, null, 10).schedules()).isEmpty();
    assertThat(schedules.due(10, Duration.ofSeconds(1)).next()).isNull();
  }

  @Test
  void aScheduleThatIsDueIsTakenOnceForAWhile() {
    ScheduleStore schedules = store.schedules();
    long now = schedules.find(NIGHTLY).now();
    assertThat(write(NIGHTLY, null, "d", "s1", now - 1)).isEqualTo(ScheduleStore.Outcome.DONE);
    ScheduleName later = new ScheduleName(NIGHTLY.queue(), "later");
    assertThat(write(later, null, "d", "later", now + 3_600_000))
        .isEqualTo(ScheduleStore.Outcome.DONE);

    assertThat(schedules.due(0, Duration.ZERO).next()).isEqualTo(now - 1);
    ScheduleStore.Due due = schedules.due(200, Duration.ofMillis(200));
    assertThat(due.schedules()).extracting(ScheduleStore.Stored::state).containsExactly("s1");
    assertThat(due.next()).isEqualTo(due.now() + 200);
    eventually().until(() -> taken().equals(List.of("s1")));
    assertThat(write(NIGHTLY, "s1", null, "s2", null)).isEqualTo(ScheduleStore.Outcome.DONE);
    due = schedules.due(200, Duration.ofMinutes(1));
    assertThat(due.schedules()).isEmpty();
    assertThat(due.next()).isEqualTo(now + 3_600_000);
  }

  @Test
  void schedulesAreListedByTheirNamesAndBoundedByApplication() {
    ScheduleStore schedules = store.schedules();
    QueueName mail = new QueueName("mail", "send");
    ScheduleName one = new ScheduleName(mail, "1");
    ScheduleName two = new ScheduleName(mail, "2");
    for (ScheduleName name : List.of(NIGHTLY, two, one)) {
      assertThat(write(name, null, "d", name.id(), null)).isEqualTo(ScheduleStore.Outcome.DONE);
    }
    ScheduleName third = new ScheduleName(new QueueName("mail", "a"), "3");
    assertThat(write(third, null, "d", "3", null)).isEqualTo(ScheduleStore.Outcome.FULL);
    assertThat(write(one, "1", null, "one", null)).isEqualTo(ScheduleStore.Outcome.DONE);

    ScheduleStore.Page first = schedules.list(null, null, null, 2);
    assertThat(first.schedules()).extracting(ScheduleStore.Stored::name).containsExactly(one, two);
    assertThat(first.next()).isNotNull();
    ScheduleStore.Page rest = schedules.list(null, null, first.next(), 2);
    assertThat(rest.schedules()).extracting(ScheduleStore.Stored::name).containsExactly(NIGHTLY);
    assertThat(rest.next()).isNull();
    assertThat(schedules.list("shop", "a:b", null, 9).schedules()).hasSize(1);
    assertThat(schedules.list("shop", "a", null, 9).schedules()).isEmpty();
    assertThat(schedules.list("mail", null, null, 9).schedules()).hasSize(2);

    assertThat(write(one, "one", null, null, null)).isEqualTo(ScheduleStore.Outcome.DONE);
    assertThat(write(third, null, "d", "3", null)).isEqualTo(ScheduleStore.Outcome.DONE);
  }

  private @Nullable Long undeclared(ScheduleName name) {
    ScheduleStore.Stored found = store.schedules().find(name).schedule();
    assertThat(found).isNotNull();
    assertThat(store.schedules().list(null, null, null, 9).schedules())
        .filteredOn(listed -> listed.name().equals(name))
        .extracting(ScheduleStore.Stored::undeclared)
        .containsExactly(found.undeclared());
    return found.undeclared();
  }

  @Test
  void aDeclarationHoldsUntilTheNextDefinition() {
    ScheduleStore schedules = store.schedules();
    ScheduleName other = new ScheduleName(NIGHTLY.queue(), "other");
    assertThat(schedules.declare("shop", List.of(NIGHTLY))).isZero();
    assertThat(write(NIGHTLY, null, "d", "s1", null)).isEqualTo(ScheduleStore.Outcome.DONE);
    assertThat(write(other, null, "d", "s1", null)).isEqualTo(ScheduleStore.Outcome.DONE);
    assertThat(undeclared(NIGHTLY)).isNull();

    assertThat(schedules.declare("shop", List.of(NIGHTLY, other))).isEqualTo(2);
    assertThat(undeclared(NIGHTLY)).isZero();
    // Another application has no say.
    assertThat(schedules.declare("mail", List.of())).isZero();
    eventually()
        .until(
            () -> {
              assertThat(schedules.declare("shop", List.of(other))).isEqualTo(1);
              return undeclared(NIGHTLY) > 0;
            });
    assertThat(undeclared(other)).isZero();
    assertThat(write(other, "s1", null, "s2", null)).isEqualTo(ScheduleStore.Outcome.DONE);
    assertThat(undeclared(other)).isZero();
    assertThat(write(other, "s2", "e", "s3", null)).isEqualTo(ScheduleStore.Outcome.DONE);
    assertThat(undeclared(other)).isNull();

    assertThat(write(NIGHTLY, "s1", null, null, null)).isEqualTo(ScheduleStore.Outcome.DONE);
    assertThat(write(NIGHTLY, null, "d", "s1", null)).isEqualTo(ScheduleStore.Outcome.DONE);
    assertThat(undeclared(NIGHTLY)).isNull();
  }

  @Test
  void aCancelledOccurrenceOfAScheduleDoesNotComeBack() {
    String occurrence = "nightly@2027-01-01T00:00:00Z";
    submit(bucket, occurrence, Due.in(60_000));
    submit(bucket, "a", Due.in(60_000));
    for (String id : List.of(occurrence, "a")) {
      assertThat(jobs.cancel(bucket, id, null).kind()).isEqualTo(Cancelled.Kind.CANCELLED);
    }
    assertThat(submit(bucket, occurrence, Due.in(0))).isEqualTo(Submitted.Kind.ALREADY_DONE);
    assertThat(jobs.find(bucket, occurrence).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
    assertThat(submit(bucket, "a", Due.in(0))).isEqualTo(Submitted.Kind.CREATED);
  }

  @Test
  void aJobIsSubmittedTriedTriedAgainAndFinished() {
    long before = jobs.stats(bucket).now();
    Submitted submitted = jobs.submit(bucket, List.of(job("a", Due.in(0))));
    assertThat(submitted.now()).isBetween(before, before + 60_000);
    assertThat(submitted.items().get(0).due()).isEqualTo(submitted.now());
    assertThat(submitted.newHead()).isEqualTo(submitted.now());

    ClaimedJob first = claim(bucket).get(0);
    assertThat(first.attempt()).isEqualTo(1);
    assertThat(claim(bucket)).isEmpty();
    assertThat(jobs.extend(bucket, List.of(new Lease("a", first.token())), LEASE).lost()).isEmpty();
    assertThat(jobs.settle(bucket, List.of(end(Settlement.Op.FAILED, first))).get(0).kind())
        .isEqualTo(Settled.Kind.RETRY);

    ClaimedJob second = claim(bucket).get(0);
    assertThat(second.attempt()).isEqualTo(2);
    assertThat(second.tries().failed()).isEqualTo(1);
    assertThat(BucketReader.text(second.record().content())).isEqualTo("body of a");
    assertThat(jobs.settle(bucket, List.of(end(Settlement.Op.DONE, second))).get(0).kind())
        .isEqualTo(Settled.Kind.DONE);

    assertThat(jobs.find(bucket, "a").orElseThrow().state()).isEqualTo(JobState.FINISHED);
    assertThat(submit(bucket, "a", Due.in(0))).isEqualTo(Submitted.Kind.ALREADY_DONE);
    assertThat(jobs.stats(bucket).counters())
        .isEqualTo(Map.of("submitted", 1L, "failed", 1L, "done", 1L));
  }

  @Test
  void aLeaseThatRanOutIsTakenBack() {
    submit(bucket, "a", Due.in(0));
    jobs.claim(bucket, 1, Duration.ofMillis(1), JobStore.ClaimMode.PUSH, new LeaseToken("t"), "me");

    eventually().until(() -> jobs.expire(bucket, 200).retried() == 1);
    assertThat(claim(bucket).get(0).tries().unknown()).isEqualTo(1);
  }

  @Test
  void waitingJobsAreMovedAndCancelled() {
    submit(bucket, "a", Due.in(60_000));
    assertThat(claim(bucket)).isEmpty();

    assertThat(jobs.revise(bucket, "a", Revision.of(Due.in(90_000))).kind())
        .isEqualTo(Revised.Kind.REVISED);
    assertThat(jobs.list(bucket, JobState.DELAYED, null, 10).jobs())
        .extracting(JobView::taskId)
        .containsExactly("a");
    assertThat(jobs.cancel(bucket, "a", null).kind()).isEqualTo(Cancelled.Kind.CANCELLED);
    assertThat(jobs.cancel(bucket, "a", null).kind()).isEqualTo(Cancelled.Kind.CANCELLED);
  }

  @Test
  void aCancelIsUndone() {
    submit(bucket, "a", Due.in(0));
    assertThat(jobs.cancel(bucket, "a", null).kind()).isEqualTo(Cancelled.Kind.CANCELLED);
    for (int i = 0; i < 2; i++) {
      Restored restored = jobs.restore(bucket, "a");
      assertThat(restored.kind()).isEqualTo(Restored.Kind.RESTORED);
      assertThat(restored.version().number()).isEqualTo(3);
    }

    ClaimedJob job = claim(bucket).get(0);
    assertThat(BucketReader.text(job.record().content())).isEqualTo("body of a");
    assertThat(jobs.restore(bucket, "b").kind()).isEqualTo(Restored.Kind.UNKNOWN);
  }

  @Test
  void aHolderThatIsToStopHearsItAtOnceAndWhenItExtends() throws Exception {
    Hearing hearing = new Hearing();
    ClaimedJob held;
    try (AutoCloseable listening = store.wakeUps().listen(hearing)) {
      assertThat(listening).isNotNull();
      assertThat(hearing.next()).isEqualTo("gap");
      // Heard before the next: what a node of a cluster said earlier may come late.
      submit(bucket, "a", Due.at(1));
      assertThat(hearing.next()).isEqualTo("shop/order.close#0 1");
      held = claim(bucket).get(0);
      assertThat(jobs.cancel(bucket, "a", null, true).kind()).isEqualTo(Cancelled.Kind.CANCELLING);
      assertThat(hearing.next()).isEqualTo("cancelling shop/order.close#0 a");
    }
    assertThat(jobs.extend(bucket, List.of(new Lease("a", held.token())), LEASE).cancelling())
        .containsExactly("a");
    assertThat(jobs.settle(bucket, List.of(end(Settlement.Op.FAILED, held))).get(0).kind())
        .isEqualTo(Settled.Kind.CANCELLED);
    assertThat(jobs.find(bucket, "a").orElseThrow().state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void eventsAreRememberedForAWhileByApplication() {
    jobs.remember("shop", "paid=1", Duration.ofMinutes(10));
    jobs.remember("shop", "brief=1", Duration.ofMillis(1));

    eventually().until(() -> jobs.remembered("shop", Set.of("brief=1")).isEmpty());
    assertThat(jobs.remembered("shop", Set.of("paid=1", "paid=2", "brief=1")))
        .containsExactly("paid=1");
    assertThat(jobs.remembered("mail", Set.of("paid=1"))).isEmpty();
    jobs.remember("shop", "brief=1", Duration.ofMinutes(10));
    assertThat(jobs.remembered("shop", Set.of("paid=1", "brief=1"))).hasSize(2);
  }

  @Test
  void eventsThatAreForgottenTakeNoMemory() {
    jobs.remember("shop", "paid=1", Duration.ofMinutes(10));
    jobs.remember("shop", "brief=1", Duration.ofMillis(1));
    eventually().until(() -> jobs.remembered("shop", Set.of("brief=1")).isEmpty());
    jobs.remember("shop", "paid=1", Duration.ofMinutes(10));

    byte[] key = new Keys(options.prefix(), TimeSource.REDIS).events("shop").get(0);
    try (RedisConnection connection = connections().getConnection()) {
      assertThat(connection.zSetCommands().zCard(key)).isEqualTo(1);
    }
    jobs.remember("mail", "brief=1", Duration.ofMillis(1));
    byte[] brief = new Keys(options.prefix(), TimeSource.REDIS).events("mail").get(0);
    try (RedisConnection connection = connections().getConnection()) {
      eventually().until(() -> connection.keyCommands().type(brief) == DataType.NONE);
    }
  }

  @Test
  void deadLettersAreRequeuedAndPurged() {
    submit(bucket, "a", Due.in(0));
    submit(bucket, "b", Due.in(0));
    List<Settlement> rejections =
        claim(bucket).stream().map(job -> end(Settlement.Op.REJECTED, job)).toList();
    assertThat(jobs.settle(bucket, rejections))
        .extracting(Settled::kind)
        .containsOnly(Settled.Kind.DEAD);

    assertThat(jobs.requeue(bucket, List.of(Requeue.of("a")), Duration.ZERO).items().get(0).kind())
        .isEqualTo(Requeued.Kind.REQUEUED);
    assertThat(jobs.purge(bucket, JobState.DEAD, List.of("a", "b"))).isEqualTo(1);
    assertThat(claim(bucket)).extracting(ClaimedJob::taskId).containsExactly("a");
  }

  @Test
  void bucketsAreApart() {
    IntStream.range(0, 16).forEach(i -> submit(bucket(i), "job", Due.in(0)));
    for (int i = 0; i < 16; i++) {
      assertThat(claim(bucket(i))).hasSize(1);
      assertThat(jobs.stats(bucket(i)).reserved()).isEqualTo(1);
    }
  }

  @Test
  void aSchedulerThatNotesABrokenConnectionKeepsNoOlderNoteOfAnother() {
    InstanceMarks marks = RedisStore.instanceMarks(connections(), options, new StoreCalls());
    String instance = "shop 10.0.0.1:8081";
    assertThat(marks.broken(instance, 0)).isZero();
    Duration minute = Duration.ofMinutes(1);

    long first = marks.broke(instance, "one", minute);
    eventually().until(() -> marks.broke(instance, "two", minute) > first);

    assertThat(marks.broken(instance, first)).isEqualTo(2);
    assertThat(marks.broken(instance, first + 1)).isEqualTo(1);
    assertThat(marks.broken("shop 10.0.0.1:8082", 0)).isZero();
    assertThat(marks.broke(instance, "two", Duration.ofMillis(1))).isGreaterThan(first);
    eventually().until(() -> marks.broken(instance, 0) == 0);
  }

  @Test
  void anInstanceIsReservedOnceUntilItsReleaseOrItsTimeIsOver() {
    InstanceMarks marks = RedisStore.instanceMarks(connections(), options, new StoreCalls());
    String instance = "shop 10.0.0.1:8081";
    Duration minute = Duration.ofMinutes(1);

    assertThat(marks.reserve(instance, minute)).isTrue();
    assertThat(marks.reserve(instance, minute)).isFalse();
    assertThat(marks.reserve("shop 10.0.0.1:8082", minute)).isTrue();
    marks.release(instance);
    assertThat(marks.reserve(instance, Duration.ofMillis(1))).isTrue();
    eventually().until(() -> marks.reserve(instance, minute));
  }

  @Test
  void aWorkerIsRegisteredUntilItLeavesOrItsTimeIsOver() {
    RegisteredWorkers workers =
        RedisStore.registeredWorkers(connections(), options, new StoreCalls());
    Worker one = new Worker("shop", "one", "a b\nc");
    assertThat(view(workers, "").workers()).isEmpty();

    assertThat(put(workers, one)).isEqualTo(RegisteredWorkers.Put.CREATED);
    RegisteredWorkers.View first = view(workers, "");
    assertThat(first.workers()).containsExactly(one);
    assertThat(put(workers, one)).isEqualTo(RegisteredWorkers.Put.RENEWED);
    assertThat(workers.read(first.version())).isNull();

    Worker other = new Worker("shop", "one", "d");
    assertThat(put(workers, other)).isEqualTo(RegisteredWorkers.Put.CHANGED);
    assertThat(view(workers, first.version()).workers()).containsExactly(other);

    Worker brief = new Worker("shop", "brief", "");
    assertThat(workers.put(brief, "", Duration.ofMillis(300), TWO, MANY))
        .isEqualTo(RegisteredWorkers.Put.CREATED);
    RegisteredWorkers.View both = view(workers, "");
    assertThat(both.workers()).containsExactlyInAnyOrder(other, brief);
    assertThat(put(workers, new Worker("shop", "three", ""))).isEqualTo(RegisteredWorkers.Put.FULL);
    assertThat(put(workers, new Worker("shoppers", "one", "")))
        .isEqualTo(RegisteredWorkers.Put.CREATED);
    eventually().until(() -> view(workers, "").workers().size() == 2);

    assertThat(remove(workers, "shop", "one", "")).isTrue();
    assertThat(remove(workers, "shop", "one", "")).isFalse();
    RegisteredWorkers.View last = view(workers, both.version());
    assertThat(last.workers()).containsExactly(new Worker("shoppers", "one", ""));

    try (RedisConnection connection = connections().getConnection()) {
      connection.keyCommands().pExpire(new Keys(options.prefix(), TimeSource.REDIS).workers(), 0);
    }
    RegisteredWorkers.View emptied = view(workers, last.version());
    assertThat(emptied.workers()).isEmpty();
    assertThat(put(workers, one)).isEqualTo(RegisteredWorkers.Put.CREATED);
    assertThat(view(workers, emptied.version()).workers()).containsExactly(one);
  }

  /** Two runs of an instance at one address are one worker, which is there while one of them is. */
  @Test
  void eachSessionOfAWorkerIsRemovedByItselfAndDoesNotComeBack() {
    RegisteredWorkers workers =
        RedisStore.registeredWorkers(connections(), options, new StoreCalls());
    Worker one = new Worker("shop", "one", "x");
    Worker next = new Worker("shop", "one", "y");
    assertThat(put(workers, one, "s1")).isEqualTo(RegisteredWorkers.Put.CREATED);
    assertThat(put(workers, one, "s1")).isEqualTo(RegisteredWorkers.Put.RENEWED);
    assertThat(workers.put(next, "s2", Duration.ofMinutes(2), TWO, MANY))
        .isEqualTo(RegisteredWorkers.Put.CREATED);
    assertThat(view(workers, "").workers()).containsExactly(next);
    // The old run renews itself once more, and ends.
    assertThat(put(workers, one, "s1")).isEqualTo(RegisteredWorkers.Put.RENEWED);
    assertThat(remove(workers, "shop", "one", "s1")).isTrue();
    assertThat(remove(workers, "shop", "one", "s1")).isFalse();
    assertThat(put(workers, one, "s1")).isEqualTo(RegisteredWorkers.Put.ENDED);
    RegisteredWorkers.View view = view(workers, "");
    assertThat(view.workers()).containsExactly(next);

    assertThat(remove(workers, "shop", "one", "s2")).isTrue();
    assertThat(view(workers, view.version()).workers()).isEmpty();
    assertThat(put(workers, next, "s2")).isEqualTo(RegisteredWorkers.Put.ENDED);
    assertThat(view(workers, "").workers()).isEmpty();
    assertThat(remove(workers, "shop", "one", "")).isFalse();
  }

  @Test
  void whoNamesNoSessionRemovesAll() {
    RegisteredWorkers workers =
        RedisStore.registeredWorkers(connections(), options, new StoreCalls());
    Worker one = new Worker("shop", "one", "x");
    Worker other = new Worker("shop", "one2", "x");
    assertThat(put(workers, one, "s1")).isEqualTo(RegisteredWorkers.Put.CREATED);
    assertThat(put(workers, one)).isEqualTo(RegisteredWorkers.Put.CREATED);
    assertThat(workers.put(other, "s1", Duration.ofMinutes(1), MANY, MANY))
        .isEqualTo(RegisteredWorkers.Put.CREATED);

    assertThat(remove(workers, "shop", "one", "")).isTrue();
    assertThat(view(workers, "").workers()).containsExactly(other);
  }

  @Test
  void aSessionThatIsRemovedBeforeItIsRegisteredDoesNotComeBack() {
    RegisteredWorkers workers =
        RedisStore.registeredWorkers(connections(), options, new StoreCalls());
    Worker one = new Worker("shop", "one", "x");
    String version = view(workers, "").version();

    assertThat(remove(workers, "shop", "one", "s1")).isFalse();

    assertThat(put(workers, one, "s1")).isEqualTo(RegisteredWorkers.Put.ENDED);
    assertThat(workers.read(version)).as("nothing that schedulers read has changed").isNull();
    assertThat(put(workers, one, "s2")).isEqualTo(RegisteredWorkers.Put.CREATED);
    assertThat(view(workers, version).workers()).containsExactly(one);
  }

  /** Who registers and leaves again and again takes no more room than who stays. */
  @Test
  void removedSessionsAreBounded() {
    RegisteredWorkers workers =
        RedisStore.registeredWorkers(connections(), options, new StoreCalls());
    Worker one = new Worker("shop", "one", "x");
    for (String session : List.of("s1", "s2", "s3", "s4")) {
      assertThat(put(workers, one, session)).isEqualTo(RegisteredWorkers.Put.CREATED);
      assertThat(remove(workers, "shop", "one", session)).isTrue();
    }
    assertThat(put(workers, one, "s5")).isEqualTo(RegisteredWorkers.Put.FULL);
    assertThat(put(workers, new Worker("bank", "one", "x"), "s5"))
        .isEqualTo(RegisteredWorkers.Put.CREATED);
    // Of those that were never there, so many are remembered that workers still have their places.
    for (String session : List.of("t1", "t2", "t3")) {
      assertThat(remove(workers, "dairy", "one", session)).isFalse();
    }
    Worker dairy = new Worker("dairy", "one", "x");
    assertThat(put(workers, dairy, "t2")).isEqualTo(RegisteredWorkers.Put.ENDED);
    assertThat(put(workers, dairy, "t3")).isEqualTo(RegisteredWorkers.Put.CREATED);
  }

  @Test
  void registeredWorkersAreBounded() {
    RegisteredWorkers workers =
        RedisStore.registeredWorkers(connections(), options, new StoreCalls());
    Duration minute = Duration.ofMinutes(1);
    Bound own = new Bound(2, 10);
    Bound all = new Bound(4, 15);
    assertThat(workers.put(new Worker("a", "1", "12345678"), "", minute, own, all))
        .isEqualTo(RegisteredWorkers.Put.CREATED);
    assertThat(workers.put(new Worker("a", "2", "123"), "", minute, own, all))
        .isEqualTo(RegisteredWorkers.Put.FULL);
    assertThat(workers.put(new Worker("a", "2", "12"), "", minute, own, all))
        .isEqualTo(RegisteredWorkers.Put.CREATED);
    assertThat(workers.put(new Worker("a", "2", "123"), "", minute, own, all))
        .isEqualTo(RegisteredWorkers.Put.FULL);
    assertThat(workers.put(new Worker("b", "1", "123456"), "", minute, own, all))
        .isEqualTo(RegisteredWorkers.Put.ALL_FULL);
    assertThat(workers.put(new Worker("b", "1", "12345"), "", minute, own, all))
        .isEqualTo(RegisteredWorkers.Put.CREATED);
    assertThat(workers.put(new Worker("b", "1", "12345"), "", minute, own, all))
        .isEqualTo(RegisteredWorkers.Put.RENEWED);
    assertThat(workers.put(new Worker("a", "1", ""), "", minute, own, all))
        .isEqualTo(RegisteredWorkers.Put.CHANGED);
    assertThat(workers.put(new Worker("c", "1", ""), "", minute, own, all))
        .isEqualTo(RegisteredWorkers.Put.CREATED);
    assertThat(workers.put(new Worker("d", "1", ""), "", minute, own, all))
        .isEqualTo(RegisteredWorkers.Put.ALL_FULL);
    assertThat(remove(workers, "b", "1", "")).isTrue();
    assertThat(workers.put(new Worker("d", "1", "12345678"), "", minute, own, all))
        .isEqualTo(RegisteredWorkers.Put.CREATED);
  }

  /** While no scheduler looked, no worker could renew itself; a clock that is set does no harm. */
  @Test
  void timeInWhichNobodyLooksIsNoneOfARegisteredWorker() {
    RegisteredWorkers workers =
        RedisStore.registeredWorkers(connections(), options, new StoreCalls());
    Worker one = new Worker("shop", "one", "x");
    for (long moved : new long[] {-3_600_000, 3_600_000}) {
      assertThat(workers.put(one, "", Duration.ofMillis(1_500), TWO, MANY))
          .isEqualTo(RegisteredWorkers.Put.CREATED);
      String version = view(workers, "").version();
      moveRegistered(moved);
      assertThat(workers.read(version)).isNull();
      eventually().until(() -> view(workers, "").workers().isEmpty());
    }
  }

  // As if Redis's clock had been set, or no scheduler had looked for so long.
  private void moveRegistered(long ms) {
    byte[] key = new Keys(options.prefix(), TimeSource.REDIS).workers();
    try (RedisConnection connection = connections().getConnection()) {
      var hash = connection.hashCommands();
      for (Map.Entry<byte[], byte[]> entry : Objects.requireNonNull(hash.hGetAll(key)).entrySet()) {
        String[] parts = new String(entry.getValue(), UTF_8).split(" ", -1);
        for (int i : entry.getKey().length == 0 ? new int[] {1, 2} : new int[] {0}) {
          parts[i] = Long.toString(Long.parseLong(parts[i]) + ms);
        }
        hash.hSet(key, entry.getKey(), String.join(" ", parts).getBytes(UTF_8));
      }
    }
  }

  private static RegisteredWorkers.Put put(RegisteredWorkers workers, Worker worker) {
    return put(workers, worker, "");
  }

  private static RegisteredWorkers.Put put(
      RegisteredWorkers workers, Worker worker, String session) {
    return workers.put(worker, session, Duration.ofMinutes(1), TWO, MANY);
  }

  private static boolean remove(
      RegisteredWorkers workers, String application, String instance, String session) {
    return workers.remove(application, instance, session, TWO, MANY);
  }

  private static RegisteredWorkers.View view(RegisteredWorkers workers, String version) {
    RegisteredWorkers.View view = workers.read(version);
    assertThat(view).isNotNull();
    return Objects.requireNonNull(view);
  }

  @Test
  void scriptsThatRedisForgotAreSentAgain() throws IOException {
    submit(bucket, "the-id", Due.in(0));
    for (String script : Calls.all().keySet()) {
      for (int server : servers()) {
        Resp.call(server, "SCRIPT", "FLUSH");
      }
      Calls.make(script, jobs, bucket);
      Calls.make(script, jobs, bucket);
    }
  }

  @Test
  void theNextCallAfterALostConnectionWorks() throws IOException {
    submit(bucket, "a", Due.in(0));
    for (int server : servers()) {
      Resp.call(server, "CLIENT", "KILL", "TYPE", "normal");
    }
    // On each server: other tests have the same connections.
    for (int i = 0; i < 16; i++) {
      try {
        jobs.stats(bucket(i));
      } catch (StoreException e) {
        // The pool could not know yet.
        assertThat(e.kind()).isEqualTo(StoreException.Kind.UNREACHABLE);
      }
      assertThat(jobs.stats(bucket(i)).delayed()).isEqualTo(i == 0 ? 1 : 0);
    }
  }

  @Test
  void aClaimWhoseAnswerIsLostIsNotSentAgain() throws Exception {
    submit(bucket, "a", Due.in(0));
    claim(bucket(1));
    pauseWrites();
    try {
      CompletableFuture<List<ClaimedJob>> claim =
          CompletableFuture.supplyAsync(() -> claim(bucket));
      // The server has the claim, and does not get to it before the connection breaks.
      eventually().until(this::killWhoWaitsForAScript);
      // Were it sent again, it would wait again.
      AtomicBoolean again = new AtomicBoolean();
      eventually()
          .until(
              () -> {
                again.compareAndSet(false, killWhoWaitsForAScript());
                return claim.isDone();
              });

      assertThat(again).isFalse();
      assertThat(catchThrowableOfType(ExecutionException.class, claim::get))
          .cause()
          .isInstanceOfSatisfying(
              StoreException.class,
              e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNREACHABLE));
    } finally {
      goOn();
    }
    assertThat(jobs.stats(bucket).reserved()).isZero();
    assertThat(claim(bucket)).hasSize(1);
  }

  private void pauseWrites() throws IOException {
    for (int server : servers()) {
      Resp.call(server, "CLIENT", "PAUSE", "60000", "WRITE");
    }
  }

  private void goOn() throws IOException {
    for (int server : servers()) {
      Resp.call(server, "CLIENT", "UNPAUSE");
    }
  }

  private boolean killWhoWaitsForAScript() throws IOException {
    Pattern waiting = Pattern.compile("id=(\\d+) .* cmd=evalsha ");
    for (int server : servers()) {
      for (String client : Resp.call(server, "CLIENT", "LIST").lines().toList()) {
        Matcher matcher = waiting.matcher(client);
        if (matcher.find() && client.contains("flags=b")) {
          Resp.call(server, "CLIENT", "KILL", "ID", matcher.group(1));
          return true;
        }
      }
    }
    return false;
  }

  @Test
  void queuesAreRegisteredOnceAndKeepTheirNumberOfBuckets() {
    QueueName queue = new QueueName("shop", "with:colon");
    QueueName other = new QueueName("shop", "other");
    assertThat(store.queues().buckets(queue)).isEqualTo(OptionalInt.empty());
    assertThat(store.queues().register(queue, 4)).isEqualTo(4);
    assertThat(store.queues().register(queue, 9)).isEqualTo(4);

    QueueDirectory elsewhere = RedisStore.connect(connections(), options).queues();
    assertThat(elsewhere.register(queue, 9)).isEqualTo(4);
    assertThat(elsewhere.register(other, 64)).isEqualTo(64);
    assertThat(elsewhere.all()).isEqualTo(Map.of(queue, 4, other, 64));
    assertThat(store.queues().all()).isEqualTo(Map.of(queue, 4, other, 64));
    assertThat(store.queues().buckets(other)).hasValue(64);
  }

  /** Hears hints, a gap as {@code gap}, and the first of several losses as {@code lost}. */
  static final class Hearing implements WakeUps.Listener {
    final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private boolean lost;

    @Override
    public void newHead(Bucket bucket, long due) {
      heard.add(bucket + " " + due);
    }

    @Override
    public void offered(Bucket bucket, long due) {
      heard.add("offered " + bucket + " " + due);
    }

    @Override
    public void cancelling(Bucket bucket, String taskId) {
      heard.add("cancelling " + bucket + " " + taskId);
    }

    @Override
    public void membersChanged() {
      heard.add("members");
    }

    @Override
    public void gap() {
      heard.add("gap");
      lost = false;
    }

    @Override
    public void lost() {
      if (!lost) {
        lost = true;
        heard.add("lost");
      }
    }

    String next() throws InterruptedException {
      String next = heard.poll(30, TimeUnit.SECONDS);
      assertThat(next).as("within 30 s").isNotNull();
      return String.valueOf(next);
    }
  }

  /** Each entry ends while the store is away, though no member was. */
  @Test
  void membersOutliveAnAbsenceOfTheStore() {
    Members members = store.members();
    Members.Member first = new Members.Member("first", "1.2.3", null);
    Members.Member second = new Members.Member("second", "1.2.4", null);
    // The second heartbeat must come before the first one's life ends.
    Duration life = Duration.ofMillis(500);
    members.beat(first, life);
    members.beat(second, life);
    long begun = jobs.stats(bucket).now();
    eventually().until(() -> jobs.stats(bucket).now() - begun > 2 * life.toMillis());

    assertThat(members.beat(first, life).members()).containsExactly(second);
    // It does not come again: it was missed after all.
    eventually().until(() -> members.beat(first, Duration.ofSeconds(9)).members().isEmpty());
  }

  @Test
  void membersKnowEachOtherUntilTheyLeaveOrAreMissed() throws Exception {
    Members members = store.members();
    QueueName queue = bucket.queue();
    Members.Member all = new Members.Member("all", "1.2.3", null);
    Members.Member some =
        new Members.Member("some", "1.2.4", Set.of(queue, new QueueName("other", "x.y")));
    Duration life = Duration.ofSeconds(30);
    Hearing hearing = new Hearing();
    try (AutoCloseable listening = store.wakeUps().listen(hearing)) {
      assertThat(listening).isNotNull();
      assertThat(hearing.next()).isEqualTo("gap");

      assertThat(members.beat(some, life)).isEqualTo(new Members.Others(List.of(), null));
      assertThat(hearing.next()).isEqualTo("members");
      Members.Others found = members.beat(all, life);
      assertThat(hearing.next()).isEqualTo("members");
      assertThat(found.members()).containsExactly(some);
      assertThat(found.firstEnd()).isBetween(Duration.ofSeconds(1), life);
      assertThat(members.beat(some, life).members()).containsExactly(all);
      members.leave(all);
      assertThat(hearing.next()).isEqualTo("members");
      assertThat(members.beat(some, life).members()).isEmpty();

      members.beat(all, Duration.ofMillis(1));
      assertThat(hearing.next()).isEqualTo("members");
      eventually().until(() -> members.beat(some, life).members().isEmpty());
      members.offer(bucket, 7);
      assertThat(hearing.next()).isEqualTo("offered shop/order.close#0 7");
      assertThat(hearing.heard).isEmpty();
    }
  }

  @Test
  void aMemberThatDoesNotSayItsVersionIsThereAllTheSame() {
    QueueName other = new QueueName("other", "x.y");
    long ends = jobs.stats(bucket).now() + 30_000;
    try (RedisConnection connection = connections().getConnection()) {
      connection
          .hashCommands()
          .hSet(
              BucketReader.bytes(options.prefix() + ":members"),
              BucketReader.bytes("old"),
              BucketReader.bytes(ends + " 30000 shop:order.close other:x.y"));
    }
    Members.Member self = new Members.Member("self", "1.2.3", null);
    assertThat(store.members().beat(self, Duration.ofSeconds(1)).members())
        .containsExactly(
            new Members.Member(
                "old", "unknown", Set.of(new QueueName("shop", "order.close"), other)));
  }

  @Test
  void aMemberWhoseTimeIsOfAnotherClockIsForgotten() {
    // As it was written before the clock was set back by an hour.
    long ends = jobs.stats(bucket).now() + 3_600_000;
    String key = options.prefix() + ":members";
    try (RedisConnection connection = connections().getConnection()) {
      connection
          .hashCommands()
          .hSet(
              BucketReader.bytes(key),
              BucketReader.bytes("gone"),
              BucketReader.bytes(ends + " 1500 1.2.3 *"));
    }
    Members.Member self = new Members.Member("self", "1.2.3", null);
    assertThat(store.members().beat(self, Duration.ofSeconds(1)).members()).isEmpty();
  }

  @Test
  void anEarlierEarliestJobIsAnnouncedAndNoOther() throws Exception {
    Hearing hearing = new Hearing();
    try (AutoCloseable listening = store.wakeUps().listen(hearing)) {
      assertThat(listening).isNotNull();
      assertThat(hearing.next()).isEqualTo("gap");

      submit(bucket, "first", Due.at(9_000_000_000_000L));
      submit(bucket, "later", Due.at(9_000_000_000_001L));
      submit(bucket(5), "elsewhere", Due.at(9_000_000_000_002L));
      jobs.revise(bucket, "later", Revision.of(Due.at(8_000_000_000_000L)));
      submit(bucket, "earlier", Due.at(7_000_000_000_000L));

      List<String> told = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        told.add(hearing.next());
      }
      // Nodes of a cluster keep the order of what each of them says, and no more than that.
      assertThat(told)
          .contains("shop/order.close#5 9000000000002")
          .containsSubsequence(
              "shop/order.close#0 9000000000000",
              "shop/order.close#0 8000000000000",
              "shop/order.close#0 7000000000000");
      assertThat(hearing.heard).isEmpty();
    }
  }

  @Test
  void aJobThatReturnsIsAnnounced() throws Exception {
    Hearing hearing = new Hearing();
    try (AutoCloseable listening = store.wakeUps().listen(hearing)) {
      assertThat(listening).isNotNull();
      assertThat(hearing.next()).isEqualTo("gap");
      submit(bucket, "far", Due.at(9_000_000_000_000L));
      assertThat(hearing.next()).isEqualTo("shop/order.close#0 9000000000000");
      for (Settlement.Op op : RETURNING) {
        submit(bucket, "job-" + op, Due.at(1));
        assertThat(hearing.next()).isEqualTo("shop/order.close#0 1");
        ClaimedJob job = claim(bucket).get(0);
        Settled settled = jobs.settle(bucket, List.of(end(op, job))).get(0);
        assertThat(settled.kind()).isEqualTo(Settled.Kind.RETRY);
        assertThat(hearing.next()).isEqualTo("shop/order.close#0 " + settled.at());
        assertThat(jobs.purge(bucket, JobState.DELAYED, List.of(job.taskId()))).isEqualTo(1);
      }

      submit(bucket, "a", Due.at(1));
      assertThat(hearing.next()).isEqualTo("shop/order.close#0 1");
      jobs.claim(
          bucket,
          9,
          Duration.ofMillis(1),
          JobStore.ClaimMode.PUSH,
          new LeaseToken("short"),
          "somebody");
      List<Long> returned = new ArrayList<>();
      eventually()
          .until(
              () -> {
                Expired expired = jobs.expire(bucket, 9);
                returned.add(expired.now());
                return expired.retried() == 1;
              });
      assertThat(hearing.next())
          .isEqualTo("shop/order.close#0 " + returned.get(returned.size() - 1));
      // Not the earliest: nobody need look sooner for it.
      submit(bucket, "b", Due.at(1));
      assertThat(hearing.next()).isEqualTo("shop/order.close#0 1");
      ClaimedJob next = claim(bucket).get(0);
      submit(bucket, "c", Due.at(2));
      assertThat(hearing.next()).isEqualTo("shop/order.close#0 2");
      jobs.settle(bucket, List.of(end(Settlement.Op.FAILED, next)));
      submit(bucket, "d", Due.at(1));
      assertThat(hearing.next()).isEqualTo("shop/order.close#0 1");
      assertThat(hearing.heard).isEmpty();
    }
  }

  @Test
  void aLostSubscriptionIsMadeAgainAndTheGapTold() throws Exception {
    Hearing hearing = new Hearing();
    try (AutoCloseable listening = store.wakeUps().listen(hearing)) {
      assertThat(listening).isNotNull();
      assertThat(hearing.next()).isEqualTo("gap");
      for (int server : servers()) {
        Resp.call(server, "CLIENT", "KILL", "TYPE", "pubsub");
      }
      assertThat(hearing.next()).isEqualTo("lost");
      assertThat(hearing.next()).isEqualTo("gap");

      submit(bucket, "a", Due.at(9_000_000_000_000L));
      assertThat(hearing.next()).isEqualTo("shop/order.close#0 9000000000000");
    }
  }

  @Test
  void nothingIsHeardAfterTheListeningEnded() throws Exception {
    Hearing ended = new Hearing();
    Hearing hearing = new Hearing();
    AutoCloseable listening = store.wakeUps().listen(ended);
    assertThat(ended.next()).isEqualTo("gap");
    listening.close();
    listening.close();
    eventually().until(() -> subscribers() == 0);

    try (AutoCloseable other = store.wakeUps().listen(hearing)) {
      assertThat(other).isNotNull();
      assertThat(hearing.next()).isEqualTo("gap");
      submit(bucket, "a", Due.at(9_000_000_000_000L));
      assertThat(hearing.next()).isEqualTo("shop/order.close#0 9000000000000");
    }
    assertThat(ended.heard).isEmpty();
    assertThat(jobs.stats(bucket).delayed()).isEqualTo(1);
  }

  private int subscribers() throws IOException {
    int count = 0;
    for (int server : servers()) {
      String reply = Resp.call(server, "PUBSUB", "NUMSUB", options.prefix() + ":wake");
      count += Integer.parseInt(reply.substring(reply.lastIndexOf('\n') + 1));
    }
    return count;
  }
}
