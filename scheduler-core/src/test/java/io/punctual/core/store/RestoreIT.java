package io.punctual.core.store;

import static io.punctual.core.store.BucketState.bucket;
import static io.punctual.core.store.Restoration.Kind.CANCELLED;
import static io.punctual.core.store.Restoration.Kind.CHANGED;
import static io.punctual.core.store.Restoration.Kind.DONE;
import static io.punctual.core.store.Restoration.Kind.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.Due;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Records of the given states were accepted at 500,000. */
class RestoreIT extends TransitionTestBase {

  private static final long ACCEPTED = 500_000;

  private static Restoration job(
      Restoration.Kind kind, String id, String incarnation, long due, long accepted) {
    return Restoration.waiting(
        kind,
        id,
        due,
        new JobRecord(incarnation, 3, accepted, 0, List.of(), bytes("body of " + id)));
  }

  private static Restoration waiting(String id, long due) {
    return job(WAITING, id, "i-" + id, due, ACCEPTED);
  }

  private void assertRestored(Restored.Kind kind, Restoration... restorations) {
    assertRestored(kind, null, restorations);
  }

  private void assertRestored(
      Restored.Kind kind, @Nullable Long newHead, Restoration... restorations) {
    Restored restored = store.restore(bucket, List.of(restorations));
    assertThat(restored.kinds()).hasSize(restorations.length).containsOnly(kind);
    assertThat(restored.newHead()).isEqualTo(newHead);
  }

  @Test
  void whatIsMissingWaitsAgainAsItWas() {
    given(bucket().delayed("first", 1));

    assertRestored(Restored.Kind.STORED, waiting("a", NOW + 5), waiting("b", NOW - 5));
    then(bucket().delayed("first", 1).delayed("a", NOW + 5).delayed("b", NOW - 5));
    assertRestored(Restored.Kind.KEPT, waiting("a", NOW + 5), waiting("b", NOW - 5));
  }

  @Test
  void everythingOfItIsBack() {
    JobRecord job = new JobRecord("i", 7, 123_456, 9000, List.of("x", "y"), bytes("body"));
    assertRestored(Restored.Kind.STORED, NOW + 5L, Restoration.waiting(CHANGED, "a", NOW + 5, job));

    assertThat(store.find(bucket, "a").orElseThrow().record())
        .usingRecursiveComparison()
        .isEqualTo(job);
    assertThat(store.tagged(bucket, "x", null, 9).jobs()).hasSize(1);
  }

  @Test
  void whatIsThereStaysAsItIs() {
    BucketState given =
        bucket()
            .delayed("moved", NOW + 7)
            .reserved("runs", NOW + 5, HELD)
            .dead("died", NOW)
            .with("delayed", "lost", "5");
    given(given);

    assertRestored(
        Restored.Kind.KEPT,
        waiting("moved", NOW + 5),
        waiting("runs", NOW + 5),
        waiting("died", NOW + 5),
        waiting("lost", NOW + 5),
        job(CHANGED, "moved", "i-moved", NOW + 7, ACCEPTED),
        job(CHANGED, "runs", "i-runs", NOW + 5, ACCEPTED),
        job(CHANGED, "runs", "i-other", NOW + 5, ACCEPTED),
        job(CHANGED, "died", "i-died", NOW + 5, ACCEPTED),
        job(CHANGED, "lost", "i-lost", NOW + 5, ACCEPTED));
    then(given);
  }

  @Test
  void aMoveThatWasForgottenIsMadeAgain() {
    given(bucket().delayed("a", NOW + 5).delayed("first", 1));

    assertRestored(Restored.Kind.CHANGED, job(CHANGED, "a", "i-a", NOW + 9, ACCEPTED));
    then(bucket().delayed("a", NOW + 9).delayed("first", 1));
  }

  @Test
  void theLaterOfTwoJobsStays() {
    BucketState given = bucket().delayed("a", NOW + 5).dead("b", NOW);
    given(given);

    // The same life, but another content: only who changed it knows which one is the later.
    assertRestored(
        Restored.Kind.KEPT,
        job(WAITING, "a", "i-2", NOW + 9, ACCEPTED),
        job(CHANGED, "a", "i-2", NOW + 9, ACCEPTED - 1),
        job(WAITING, "b", "i-2", NOW + 9, ACCEPTED - 1));
    then(given);
    assertRestored(
        Restored.Kind.CHANGED,
        job(CHANGED, "a", "i-2", NOW + 9, ACCEPTED),
        job(WAITING, "b", "i-2", NOW + 9, ACCEPTED + 1));
    then(
        bucket()
            .delayed("a", NOW + 9)
            .record("a", 3, "i-2\nbody of a")
            .delayed("b", NOW + 9)
            .record("b", BucketState.numbers(3, ACCEPTED + 1) + "i-2\nbody of b"));
  }

  @Test
  void theTagsAndFailuresOfAnEarlierJobGoWithIt() {
    given(
        bucket()
            .delayed("a", NOW + 5)
            .record("a", 3, "i-a 0 x\nbody of a")
            .with("tags", "x a", "0")
            .tries("a", "0 0 1 1 1 0 5")
            .error("a", "900000 fail retry 1 990000 2\nno"));

    assertRestored(Restored.Kind.CHANGED, job(CHANGED, "a", "i-2", NOW + 9, ACCEPTED));
    then(bucket().delayed("a", NOW + 9).record("a", 3, "i-2\nbody of a"));
  }

  @Test
  void whatEndedMeanwhileIsNotBroughtBack() {
    BucketState given =
        bucket()
            .tomb("ran", NOW + 1, "D", "body of ran", 1)
            .tomb("later", NOW + 1, "C", "x", ACCEPTED)
            .tomb("earlier", NOW + 1, "D", "x", ACCEPTED - 1);
    given(given);

    assertRestored(
        Restored.Kind.KEPT,
        waiting("ran", NOW + 5),
        job(WAITING, "later", "i-2", NOW + 5, ACCEPTED));
    then(given);
    assertRestored(
        Restored.Kind.STORED, NOW + 5L, job(WAITING, "earlier", "i-2", NOW + 5, ACCEPTED));
    then(
        given
            .withoutJob("earlier")
            .delayed("earlier", NOW + 5)
            .record("earlier", 3, "i-2\nbody of earlier"));
  }

  @Test
  void whatWasDoneIsDoneWhateverItIsTakenFor() {
    given(
        bucket()
            .delayed("waits", NOW)
            .tries("waits", "0 0 1 1 1 0 5")
            .error("waits", "900000 fail retry 1 990000 2\nno")
            .reserved("runs", NOW + 5, HELD)
            .dead("died", NOW));

    assertRestored(
        Restored.Kind.ENDED,
        Restoration.ended(DONE, "waits", "i-waits", NOW - 1),
        Restoration.ended(DONE, "runs", "i-runs", NOW - 2),
        Restoration.ended(DONE, "died", "i-died", NOW - 3));
    then(
        bucket()
            .tomb("waits", NOW + RETENTION, "D", "body of waits", NOW - 1)
            .tomb("runs", NOW + RETENTION, "D", "body of runs", NOW - 2)
            .tomb("died", NOW + RETENTION, "D", "body of died", NOW - 3));
    assertThat(timeToLive("tombs")).isBetween(RETENTION - 60_000, RETENTION);
  }

  @Test
  void aCancelledJobThatStillWaitsIsGone() {
    BucketState others = bucket().reserved("runs", NOW + 5, HELD).dead("died", NOW);
    given(others.delayed("waits", NOW));

    assertRestored(Restored.Kind.ENDED, Restoration.ended(CANCELLED, "waits", "i-waits", NOW - 1));
    assertRestored(
        Restored.Kind.KEPT,
        Restoration.ended(CANCELLED, "runs", "i-runs", NOW - 1),
        Restoration.ended(CANCELLED, "died", "i-died", NOW - 1),
        Restoration.ended(CANCELLED, "waits", "i-waits", NOW - 1));
    then(others.tomb("waits", NOW + RETENTION, "C", "body of waits", NOW - 1));
  }

  @Test
  void theEndOfWhatIsMissingIsRemembered() {
    given(
        bucket()
            .tomb("earlier", NOW + 1, "C", "x", NOW - 9)
            .tomb("later", NOW + 1, "D", "x", NOW - 1)
            .with("delayed", "lost", "5")
            .delayed("another", NOW));

    assertRestored(
        Restored.Kind.KEPT,
        Restoration.ended(DONE, "later", "i-2", NOW - 1),
        Restoration.ended(DONE, "lost", "i-lost", NOW - 1),
        Restoration.ended(DONE, "another", "i-2", NOW - 1));
    assertRestored(
        Restored.Kind.REMEMBERED,
        Restoration.ended(DONE, "a", "i-a", NOW - 1),
        Restoration.ended(CANCELLED, "earlier", "i-2", NOW - 8));
    String expires = Long.toString(NOW + RETENTION);
    then(
        bucket()
            .tomb("later", NOW + 1, "D", "x", NOW - 1)
            .with("delayed", "lost", "5")
            .delayed("another", NOW)
            .with("done", "a", expires)
            .with("tombs", "a", "i-a D 0 " + (NOW - 1))
            .with("done", "earlier", expires)
            .with("tombs", "earlier", "i-2 C 0 " + (NOW - 8)));

    // Of whatever content it was: it is done.
    Submission again =
        new Submission("a", "i-3", Due.in(5), 3, 0, List.of(), bytes("any"), /* replace= */ false);
    assertThat(store.submit(bucket, List.of(again)).items())
        .extracting(Submitted.Item::kind)
        .containsExactly(Submitted.Kind.DONE);
  }

  @Test
  void anEndThatWasReachedOnceMoreIsTold() {
    BucketState given =
        bucket()
            .tomb("again", NOW + 1, "D", "x", NOW - 1)
            .tomb("once", NOW + 1, "D", "x", NOW - 2)
            .tomb("cancelled", NOW + 1, "C", "x", NOW - 1);
    given(given);

    assertRestored(Restored.Kind.REPEATED, Restoration.ended(DONE, "again", "i-again", NOW - 2));
    assertRestored(
        Restored.Kind.KEPT,
        Restoration.ended(DONE, "once", "i-once", NOW - 2),
        Restoration.ended(CANCELLED, "again", "i-again", NOW - 2),
        Restoration.ended(DONE, "cancelled", "i-cancelled", NOW - 2));
    then(given);
  }

  @Test
  void anEndTrimsTombstonesThatExpired() {
    given(bucket().tomb("old", NOW, "D", "x", 1));

    assertRestored(Restored.Kind.REMEMBERED, Restoration.ended(DONE, "a", "i-a", NOW - 1));
    assertThat(reader.read(bucket).values("tombs")).containsOnlyKeys("a");
  }

  @Test
  void onlyAJobThatWaitsHasARecord() {
    JobRecord job = new JobRecord("i", 7, 123, 0, List.of(), bytes("body"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Restoration(WAITING, "a", "i", 1, null));
    assertThatIllegalArgumentException().isThrownBy(() -> new Restoration(DONE, "a", "i", 1, job));
  }
}
