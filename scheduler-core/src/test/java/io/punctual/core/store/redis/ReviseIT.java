package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.Origin;
import io.punctual.core.store.Revised;
import io.punctual.core.store.Revised.Kind;
import io.punctual.core.store.Revision;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReviseIT extends TransitionTestBase {

  private static Revised revised(long due, String incarnation, long version) {
    return new Revised(Kind.REVISED, due, 0, new JobVersion(incarnation, version), null);
  }

  private static Revised newHead(long due, String incarnation, long version) {
    return new Revised(Kind.REVISED, due, 0, new JobVersion(incarnation, version), due);
  }

  /** As a move writes it of a job that was never tried. */
  private static String moved(long due, long version) {
    return "0 0 0 0 0 0 " + due + " " + version;
  }

  private Revised move(String id, Due due) {
    return store.revise(bucket, id, Revision.of(due));
  }

  private Revised change(String id, @Nullable Due due, JobVersion seen, String... tags) {
    return store.revise(
        bucket,
        id,
        new Revision(
            due,
            new Revision.NewContent(
                "new-" + id, 7, 9000, Origin.UNKNOWN, List.of(tags), bytes("other")),
            seen));
  }

  @Test
  void aWaitingJobMovesToAnInstantOrByADelay() {
    given(bucket().delayed("a", NOW + 5).delayed("first", 1));

    assertThat(move("a", Due.at(NOW + 99))).isEqualTo(revised(NOW + 99, "i-a", 2));
    BucketState first = bucket().delayed("first", 1);
    then(first.delayed("a", NOW + 99).tries("a", moved(NOW + 99, 2)));
    assertThat(move("a", Due.in(7))).isEqualTo(revised(NOW + 7, "i-a", 3));
    then(first.delayed("a", NOW + 7).tries("a", moved(NOW + 7, 3)));
    assertThat(move("a", Due.in(7))).isEqualTo(revised(NOW + 7, "i-a", 4));
    then(first.delayed("a", NOW + 7).tries("a", moved(NOW + 7, 4)));
  }

  @Test
  void theFirstDueTimeOfATriedJobMovesWithIt() {
    String error = "900000 failed retry 1 990000 2\nno";
    given(bucket().delayed("a", NOW + 5).tries("a", "1 2 3 4 5 1 6 3").error("a", error));

    move("a", Due.at(NOW + 99));
    then(bucket().delayed("a", NOW + 99).tries("a", "1 2 3 4 5 1 1000099 4").error("a", error));
  }

  @Test
  void newContentIsANewIncarnationAndKeepsWhatHappened() {
    String error = "900000 failed retry 1 990000 2\nno";
    given(bucket().delayed("a", NOW + 5).tries("a", "1 2 3 4 5 1 6 3").error("a", error));

    assertThat(change("a", null, new JobVersion("i-a", 3))).isEqualTo(revised(NOW + 5, "new-a", 4));
    then(
        bucket()
            .delayed("a", NOW + 5)
            .record("a", 7, "new-a 9000 - -\nother")
            .tries("a", "1 2 3 4 5 1 6 4")
            .error("a", error));
  }

  @Test
  void contentAndDueTimeChangeTogether() {
    given(bucket().delayed("a", NOW + 5));

    assertThat(change("a", Due.in(3), new JobVersion("i-a", 1)))
        .isEqualTo(newHead(NOW + 3, "new-a", 2));
    then(
        bucket()
            .delayed("a", NOW + 3)
            .record("a", 7, "new-a 9000 - -\nother")
            .tries("a", moved(NOW + 3, 2)));
  }

  @Test
  void newTagsTakeThePlaceOfTheOldOnes() {
    BucketState given =
        bucket()
            .delayed("a", NOW + 5)
            .record("a", 3, "i-a 0 - - keep old\nbody of a")
            .with("tags", "keep a", "0")
            .with("tags", "old a", "0")
            .with("tags", "old b", "0");
    given(given);

    change("a", null, new JobVersion("i-a", 1), "new", "keep");
    then(
        given
            .record("a", 7, "new-a 9000 - - keep new\nother")
            .tries("a", moved(NOW + 5, 2))
            .without("tags", "old a")
            .with("tags", "new a", "0"));
  }

  @Test
  void whatIsNotTheVersionThatWasSeenIsLeftAlone() {
    BucketState given =
        bucket().delayed("a", NOW + 5).delayed("lost", NOW + 5).without("jobs", "lost");
    given(given);
    Revised changed = Revised.refused(Kind.CHANGED, 0, new JobVersion("i-a", 1));

    assertThat(change("a", Due.in(1), new JobVersion("i-b", 1))).isEqualTo(changed);
    assertThat(change("a", null, new JobVersion("i-a", 2))).isEqualTo(changed);
    assertThat(change("lost", null, new JobVersion("i-lost", 1)))
        .isEqualTo(Revised.refused(Kind.CHANGED, 0, new JobVersion("", 1)));
    assertThat(store.revise(bucket, "a", new Revision(Due.in(1), null, new JobVersion("i-a", 2))))
        .isEqualTo(changed);
    then(given);
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new Revision(
                    null,
                    new Revision.NewContent("x", 1, 0, Origin.UNKNOWN, List.of(), new byte[0]),
                    null));
  }

  @Test
  void aJobWithoutRecordCanBeMoved() {
    BucketState given = bucket().delayed("lost", NOW + 5).without("jobs", "lost");
    given(given);

    assertThat(move("lost", Due.in(9))).isEqualTo(revised(NOW + 9, "", 2));
    then(given.with("delayed", "lost", Long.toString(NOW + 9)).tries("lost", moved(NOW + 9, 2)));
  }

  @Test
  void onlyAnEarlierEarliestDueTimeIsNews() {
    given(bucket().delayed("a", NOW + 100).delayed("b", NOW + 200));

    assertThat(move("b", Due.in(100))).isEqualTo(revised(NOW + 100, "i-b", 2));
    assertThat(move("b", Due.in(99))).isEqualTo(newHead(NOW + 99, "i-b", 3));
    assertThat(move("b", Due.in(99))).isEqualTo(revised(NOW + 99, "i-b", 4));
    assertThat(move("b", Due.in(500))).isEqualTo(revised(NOW + 500, "i-b", 5));
    assertThat(move("a", Due.in(0))).isEqualTo(newHead(NOW, "i-a", 2));
  }

  @Test
  void whatDoesNotWaitIsLeftAlone() {
    BucketState given =
        bucket()
            .reserved("runs", NOW + 5, "t-1 4 0 990000 980000 2 me")
            .dead("died", NOW)
            .tomb("ran", NOW + 1, "D", "x", 1)
            .tomb("cancelled", NOW + 1, "C", "x", 1)
            .tomb("forgotten", NOW, "D", "x", 1);
    given(given);

    assertAnswer("runs", Kind.IN_DELIVERY, 4, 2);
    assertAnswer("died", Kind.DEAD, 0, 1);
    assertAnswer("ran", Kind.FINISHED, 0, 0);
    assertAnswer("cancelled", Kind.UNKNOWN, 0, 0);
    assertAnswer("forgotten", Kind.UNKNOWN, 0, 0);
    assertAnswer("never", Kind.UNKNOWN, 0, 0);
    then(given);
    for (String id : List.of("runs", "died")) {
      assertThat(change(id, null, new JobVersion("i-" + id, 3)).kind()).isEqualTo(Kind.CHANGED);
    }
    for (String id : List.of("ran", "cancelled")) {
      assertThat(change(id, null, new JobVersion("i-" + id, 1)).kind()).isEqualTo(Kind.CHANGED);
    }
    assertThat(change("never", null, new JobVersion("i-never", 1)).kind()).isEqualTo(Kind.UNKNOWN);
    then(given);
  }

  private void assertAnswer(String id, Kind kind, int attempt, long version) {
    JobVersion there = version == 0 ? null : new JobVersion("i-" + id, version);
    Revised expected = Revised.refused(kind, attempt, there);
    assertThat(move(id, Due.in(0))).isEqualTo(expected);
    if (there != null) {
      assertThat(change(id, null, there)).isEqualTo(expected);
    }
  }
}
