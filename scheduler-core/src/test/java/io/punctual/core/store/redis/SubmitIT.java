package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.conflict.OnConflict;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.Origin;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.Submitted.Kind;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SubmitIT extends TransitionTestBase {

  private static final Due LATER = Due.at(NOW + 60_000);

  private static Submission job(String id, Due due, String content) {
    return new Submission(
        id, "new-" + id, due, 5, 0, List.of(), bytes(content), /* replace= */ false);
  }

  private static Submission replacing(String id, Due due, String content) {
    return new Submission(
        id, "new-" + id, due, 5, 0, List.of(), bytes(content), /* replace= */ true);
  }

  /** What is stored of a job that {@link #job} or {@link #replacing} made, at {@link #NOW}. */
  private static String stored(String id, String content) {
    return BucketState.numbers(5, NOW) + "new-" + id + "\n" + content;
  }

  private Submitted submit(Submission... jobs) {
    return store.submit(bucket, List.of(jobs));
  }

  private Submitted.Item submitOne(Submission job) {
    return submit(job).items().get(0);
  }

  private void assertAnswer(Submitted.Item item, Kind kind, long due) {
    assertThat(item).isEqualTo(new Submitted.Item(kind, due, 0, null, item.version()));
    assertThat(item.version() == null)
        .isEqualTo(kind == Kind.ALREADY_DONE || kind == Kind.CONFLICT_DONE);
  }

  /** Lua passes some 8,000 values to a call at most. */
  @Test
  void aFullCallOfJobsWithManyTagsIsStoredAsAWhole() {
    List<String> tags = IntStream.range(0, 25).mapToObj("tag-%02d"::formatted).toList();
    Submission[] jobs =
        IntStream.range(0, JobStore.MAX_JOBS)
            .mapToObj(
                i ->
                    new Submission(
                        "j" + i, "new-" + i, LATER, 5, 0, tags, bytes("x"), /* replace= */ false))
            .toArray(Submission[]::new);

    assertThat(submit(jobs).items()).allMatch(item -> item.kind() == Kind.CREATED);
    assertThat(store.tagged(bucket, "tag-24", null, JobStore.MAX_JOBS).jobs())
        .hasSize(JobStore.MAX_JOBS);
  }

  @Test
  void aNewJobWaits() {
    Submitted submitted = submit(job("a", LATER, "hello"));

    assertThat(submitted.now()).isEqualTo(NOW);
    assertAnswer(submitted.items().get(0), Kind.CREATED, NOW + 60_000);
    then(
        bucket()
            .record("a", stored("a", "hello"))
            .with("delayed", "a", "1060000")
            .counted("submitted", 1));
  }

  @Test
  void aDelayCountsFromTheStoresClock() {
    Submitted submitted = submit(job("a", Due.in(250), "hello"));

    assertAnswer(submitted.items().get(0), Kind.CREATED, NOW + 250);
    then(
        bucket()
            .record("a", stored("a", "hello"))
            .with("delayed", "a", "1000250")
            .counted("submitted", 1));
  }

  @Test
  void aPastDueTimeIsKept() {
    assertAnswer(submitOne(job("a", Due.at(17), "hello")), Kind.CREATED, 17);
    then(
        bucket()
            .record("a", stored("a", "hello"))
            .with("delayed", "a", "17")
            .counted("submitted", 1));
  }

  @Test
  void contentIsKeptByteForByte() {
    byte[] content = new byte[512];
    for (int i = 0; i < content.length; i++) {
      content[i] = (byte) i;
    }
    submit(new Submission("a", "new-a", LATER, 5, 0, List.of(), content, /* replace= */ false));

    then(
        bucket()
            .record("a", stored("a", text(content)))
            .with("delayed", "a", "1060000")
            .counted("submitted", 1));
    JobRecord record = store.find(bucket, "a").orElseThrow().record();
    assertThat(Objects.requireNonNull(record).content()).isEqualTo(content);
  }

  @Test
  void whereAJobComesFromIsKeptAndMakesNoOtherJobOfIt() {
    Origin origin = new Origin("00-trace-span-01", "shop/anna");
    submit(
        new Submission(
            "a", "new-a", LATER, 5, 0, origin, List.of(), bytes("x"), OnConflict.REFUSE));

    BucketState stored =
        bucket()
            .record("a", BucketState.numbers(5, NOW) + "new-a 0 00-trace-span-01 shop/anna\nx")
            .with("delayed", "a", "1060000")
            .counted("submitted", 1);
    then(stored);
    JobRecord record = store.find(bucket, "a").orElseThrow().record();
    assertThat(Objects.requireNonNull(record).origin()).isEqualTo(origin);

    assertThat(submit(job("a", LATER, "x")).items().get(0).kind()).isEqualTo(Kind.ALREADY_THERE);
    then(stored);
  }

  @Test
  void theSameJobIsThereWhereverItIs() {
    BucketState given =
        bucket()
            .delayed("waits", NOW + 5)
            .reserved("runs", NOW + 9_000, HELD)
            .dead("died", NOW - 7);
    given(given);

    assertAnswer(submitOne(job("waits", LATER, "body of waits")), Kind.ALREADY_THERE, NOW + 5);
    assertAnswer(submitOne(job("runs", LATER, "body of runs")), Kind.ALREADY_THERE, 980_000);
    assertAnswer(submitOne(job("died", LATER, "body of died")), Kind.ALREADY_THERE, NOW - 7);
    assertAnswer(
        submitOne(replacing("waits", LATER, "body of waits")), Kind.ALREADY_THERE, NOW + 5);
    assertAnswer(submitOne(replacing("runs", LATER, "body of runs")), Kind.ALREADY_THERE, 980_000);
    assertAnswer(submitOne(replacing("died", LATER, "body of died")), Kind.ALREADY_THERE, NOW - 7);
    then(given);
  }

  @Test
  void anotherJobOfTheSameIdIsAConflictAndShownAsItIs() {
    BucketState given =
        bucket()
            .delayed("waits", NOW + 5)
            .reserved("runs", NOW + 9_000, HELD)
            .dead("died", NOW - 7);
    given(given);

    for (String id : List.of("waits", "runs", "died")) {
      Submitted.Item item = submitOne(job(id, LATER, "other"));
      assertThat(item.kind()).isEqualTo(Kind.CONFLICT);
      assertThat(item.due())
          .isEqualTo(id.equals("waits") ? NOW + 5 : id.equals("runs") ? 980_000 : NOW - 7);
      assertThat(item.existing()).isNotNull();
      assertThat(item.existing().incarnation()).isEqualTo("i-" + id);
      assertThat(item.existing().maxAttempts()).isEqualTo(3);
      assertThat(item.existing().acceptedAt()).isEqualTo(500_000);
      assertThat(text(item.existing().content())).isEqualTo("body of " + id);
    }
    then(given);
  }

  @Test
  void contentThatOnlyBeginsTheSameDiffers() {
    BucketState given = bucket().delayed("a", NOW + 5);
    given(given);

    assertThat(submitOne(job("a", LATER, "body of a.")).kind()).isEqualTo(Kind.CONFLICT);
    assertThat(submitOne(job("a", LATER, "body of ")).kind()).isEqualTo(Kind.CONFLICT);
    assertThat(submitOne(job("a", LATER, "")).kind()).isEqualTo(Kind.CONFLICT);
    then(given);
  }

  @Test
  void aWaitingJobGivesWay() {
    given(
        bucket()
            .delayed("a", NOW + 5)
            .tries("a", "0 0 1 1 1 0 900000 3")
            .error("a", "900000 failed retry 1 990000 2\nno")
            .counted("submitted", 4));

    assertAnswer(submitOne(replacing("a", LATER, "other")), Kind.REPLACED, NOW + 60_000);
    then(
        bucket()
            .record("a", stored("a", "other"))
            .with("delayed", "a", "1060000")
            .tries("a", "0 0 0 0 0 0 1060000 4")
            .counted("submitted", 5));
  }

  @Test
  void aDeadJobGivesWay() {
    given(
        bucket()
            .dead("a", NOW - 5)
            .tries("a", "0 0 3 3 3 0 900000 3")
            .error("a", "900000 failed dead-attempts 1 990000 2\nno"));

    assertAnswer(submitOne(replacing("a", LATER, "other")), Kind.REPLACED, NOW + 60_000);
    then(
        bucket()
            .record("a", stored("a", "other"))
            .with("delayed", "a", "1060000")
            .tries("a", "0 0 0 0 0 0 1060000 4")
            .counted("submitted", 1));
  }

  @Test
  void aJobThatIsBeingWorkedOnDoesNotGiveWay() {
    BucketState given = bucket().reserved("a", NOW + 5, "t-1 7 0 990000 980000 2 me");
    given(given);

    assertThat(submitOne(replacing("a", LATER, "other")))
        .isEqualTo(new Submitted.Item(Kind.IN_DELIVERY, 0, 7, null, new JobVersion("i-a", 2)));
    then(given);
  }

  @Test
  void aJobThatRanIsNotStoredAgain() {
    BucketState given = bucket().tomb("a", NOW + 1, "D", "hello", 999_000);
    given(given);

    assertAnswer(submitOne(job("a", LATER, "hello")), Kind.ALREADY_DONE, 999_000);
    assertAnswer(submitOne(replacing("a", LATER, "hello")), Kind.ALREADY_DONE, 999_000);
    then(given);
  }

  @Test
  void anotherJobOfAnIdThatRanIsAConflict() {
    BucketState given = bucket().tomb("a", NOW + 1, "D", "hello", 999_000);
    given(given);

    assertAnswer(submitOne(job("a", LATER, "other")), Kind.CONFLICT_DONE, 999_000);
    then(given);
  }

  @Test
  void anotherJobReplacesAnIdThatRan() {
    given(bucket().tomb("a", NOW + 1, "D", "hello", 999_000));

    assertAnswer(submitOne(replacing("a", LATER, "other")), Kind.CREATED, NOW + 60_000);
    then(
        bucket()
            .record("a", stored("a", "other"))
            .with("delayed", "a", "1060000")
            .counted("submitted", 1));
  }

  @Test
  void aCancelledIdIsFree() {
    given(bucket().tomb("a", NOW + 1, "C", "hello", 999_000));

    assertAnswer(submitOne(job("a", LATER, "hello")), Kind.CREATED, NOW + 60_000);
    then(
        bucket()
            .record("a", stored("a", "hello"))
            .with("delayed", "a", "1060000")
            .counted("submitted", 1));
  }

  @Test
  void aTombstoneEndsAtItsTimeWhetherTrimmedOrNot() {
    given(bucket().tomb("a", NOW, "D", "hello", 999_000));

    assertAnswer(submitOne(job("a", LATER, "hello")), Kind.CREATED, NOW + 60_000);
    then(
        bucket()
            .record("a", stored("a", "hello"))
            .with("delayed", "a", "1060000")
            .counted("submitted", 1));
  }

  @Test
  void halfATombstoneIsNone() {
    given(bucket().with("done", "a", "1000001"));

    assertAnswer(submitOne(job("a", LATER, "hello")), Kind.CREATED, NOW + 60_000);
    then(
        bucket()
            .record("a", stored("a", "hello"))
            .with("delayed", "a", "1060000")
            .counted("submitted", 1));
  }

  @Test
  void jobsOfOneCallAreTakenOneAfterTheOther() {
    given(bucket().delayed("old", NOW + 5));

    Submitted submitted =
        submit(
            job("a", LATER, "one"),
            job("a", LATER, "one"),
            job("a", LATER, "two"),
            job("b", LATER, "b"),
            replacing("a", Due.in(9), "three"),
            job("old", LATER, "body of old"),
            replacing("a", Due.in(9), "three"));

    assertThat(submitted.items())
        .extracting(Submitted.Item::kind)
        .containsExactly(
            Kind.CREATED,
            Kind.ALREADY_THERE,
            Kind.CONFLICT,
            Kind.CREATED,
            Kind.REPLACED,
            Kind.ALREADY_THERE,
            Kind.ALREADY_THERE);
    assertThat(submitted.items().get(6).due()).isEqualTo(NOW + 9);
    then(
        bucket()
            .delayed("old", NOW + 5)
            .record("a", stored("a", "three"))
            .tries("a", "0 0 0 0 0 0 1000009 2")
            .with("delayed", "a", "1000009")
            .record("b", stored("b", "b"))
            .with("delayed", "b", "1060000")
            .counted("submitted", 3));
  }

  @Test
  void repeatingACallChangesNothing() {
    submit(job("a", Due.in(100), "one"), replacing("b", Due.in(200), "two"));
    BucketState first = reader.read(bucket);

    nowIs(NOW + 50);
    Submitted again = submit(job("a", Due.in(100), "one"), replacing("b", Due.in(200), "two"));

    assertThat(again.items())
        .extracting(Submitted.Item::kind)
        .containsExactly(Kind.ALREADY_THERE, Kind.ALREADY_THERE);
    assertThat(again.items()).extracting(Submitted.Item::due).containsExactly(NOW + 100, NOW + 200);
    assertThat(again.newHead()).isNull();
    then(first);
  }

  @Test
  void onlyAnEarlierEarliestJobIsNews() {
    assertThat(submit(job("a", Due.in(100), "a")).newHead()).isEqualTo(NOW + 100);
    assertThat(submit(job("b", Due.in(100), "b")).newHead()).isNull();
    assertThat(submit(job("c", Due.in(101), "c")).newHead()).isNull();
    assertThat(submit(job("d", Due.in(99), "d"), job("e", Due.in(98), "e")).newHead())
        .isEqualTo(NOW + 98);
    assertThat(submit(replacing("e", Due.in(500), "other")).newHead()).isNull();
    assertThat(submit(job("f", Due.in(90), "f"), replacing("f", Due.in(900), "g")).newHead())
        .isNull();
    assertThat(submit(replacing("e", Due.in(3), "third")).newHead()).isEqualTo(NOW + 3);
  }

  @Test
  void aWaitingIdWithoutARecordIsAnotherJobAndHealedByAReplacement() {
    BucketState given = bucket().with("delayed", "a", "1000005");
    given(given);

    assertThat(submitOne(job("a", LATER, "hello")))
        .isEqualTo(new Submitted.Item(Kind.CONFLICT, NOW + 5, 0, null, new JobVersion("", 1)));
    then(given);

    assertAnswer(submitOne(replacing("a", LATER, "hello")), Kind.REPLACED, NOW + 60_000);
    then(
        bucket()
            .record("a", stored("a", "hello"))
            .with("delayed", "a", "1060000")
            .tries("a", "0 0 0 0 0 0 1060000 2")
            .counted("submitted", 1));
  }

  @Test
  void aRecordOfAnIdInNoStateIsNoJob() {
    given(bucket().record("a"));

    assertAnswer(submitOne(job("a", LATER, "body of a")), Kind.CREATED, NOW + 60_000);
    then(
        bucket()
            .record("a", stored("a", "body of a"))
            .with("delayed", "a", "1060000")
            .counted("submitted", 1));
  }

  @Test
  void nothingToStoreIsFine() {
    assertThat(submit().items()).isEmpty();
    then(bucket());
  }

  @Test
  void twoHundredJobsAreTakenAndMoreRefused() {
    Submission[] jobs = new Submission[200];
    Arrays.setAll(jobs, i -> job("j" + i, Due.in(i), "x"));
    assertThat(submit(jobs).items()).hasSize(200);
    assertThat(reader.read(bucket).values("delayed")).hasSize(200);

    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.submit(bucket, Collections.nCopies(201, job("a", LATER, "hello"))))
        .withMessage("at most 200 jobs a call, not 201");
  }

  @Test
  void whatTheScriptReliesOnIsChecked() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new Submission("a", "with space", LATER, 5, 0, List.of(), bytes("x"), false));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Submission("a", "new-a", LATER, 0, 0, List.of(), bytes("x"), false));
  }
}
