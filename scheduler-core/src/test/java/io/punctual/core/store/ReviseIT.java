package io.punctual.core.store;

import static io.punctual.core.store.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.Due;
import io.punctual.core.store.Revised.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReviseIT extends TransitionTestBase {

  private static Revised revised(long due) {
    return new Revised(Kind.REVISED, due, 0, null);
  }

  private static Revised newHead(long due) {
    return new Revised(Kind.REVISED, due, 0, due);
  }

  private Revised move(String id, Due due) {
    return store.revise(bucket, id, Revision.of(due));
  }

  private Revised change(String id, @Nullable Due due, Revision.Version seen, String... tags) {
    return store.revise(
        bucket,
        id,
        new Revision(
            due,
            new Revision.NewContent("new-" + id, 7, 9000, List.of(tags), bytes("other")),
            seen));
  }

  @Test
  void aWaitingJobMovesToAnInstantOrByADelay() {
    given(bucket().delayed("a", NOW + 5).delayed("first", 1));

    assertThat(move("a", Due.at(NOW + 99))).isEqualTo(revised(NOW + 99));
    then(bucket().delayed("a", NOW + 99).delayed("first", 1));
    assertThat(move("a", Due.in(7))).isEqualTo(revised(NOW + 7));
    then(bucket().delayed("a", NOW + 7).delayed("first", 1));
    assertThat(move("a", Due.in(7))).isEqualTo(revised(NOW + 7));
    then(bucket().delayed("a", NOW + 7).delayed("first", 1));
  }

  @Test
  void theFirstDueTimeOfATriedJobMovesWithIt() {
    String error = "900000 fail retry 1 990000 2\nno";
    given(bucket().delayed("a", NOW + 5).tries("a", "1 2 3 4 5 1 6").error("a", error));

    move("a", Due.at(NOW + 99));
    then(bucket().delayed("a", NOW + 99).tries("a", "1 2 3 4 5 1 1000099").error("a", error));
  }

  @Test
  void newContentIsANewIncarnationAndKeepsWhatHappened() {
    String error = "900000 fail retry 1 990000 2\nno";
    given(bucket().delayed("a", NOW + 5).tries("a", "1 2 3 4 5 1 6").error("a", error));

    assertThat(change("a", null, new Revision.Version("i-a", NOW + 5))).isEqualTo(revised(NOW + 5));
    then(
        bucket()
            .delayed("a", NOW + 5)
            .record("a", 7, "new-a 9000\nother")
            .tries("a", "1 2 3 4 5 1 6")
            .error("a", error));
  }

  @Test
  void contentAndDueTimeChangeTogether() {
    given(bucket().delayed("a", NOW + 5));

    assertThat(change("a", Due.in(3), new Revision.Version("i-a", NOW + 5)))
        .isEqualTo(newHead(NOW + 3));
    then(bucket().delayed("a", NOW + 3).record("a", 7, "new-a 9000\nother"));
  }

  @Test
  void newTagsTakeThePlaceOfTheOldOnes() {
    BucketState given =
        bucket()
            .delayed("a", NOW + 5)
            .record("a", 3, "i-a 0 keep old\nbody of a")
            .with("tags", "keep a", "0")
            .with("tags", "old a", "0")
            .with("tags", "old b", "0");
    given(given);

    change("a", null, new Revision.Version("i-a", NOW + 5), "new", "keep");
    then(
        given
            .record("a", 7, "new-a 9000 keep new\nother")
            .without("tags", "old a")
            .with("tags", "new a", "0"));
  }

  @Test
  void whatIsNotTheVersionThatWasSeenIsLeftAlone() {
    BucketState given =
        bucket().delayed("a", NOW + 5).delayed("lost", NOW + 5).without("jobs", "lost");
    given(given);
    Revised changed = Revised.refused(Kind.CHANGED, 0);

    assertThat(change("a", Due.in(1), new Revision.Version("i-b", NOW + 5))).isEqualTo(changed);
    assertThat(change("a", null, new Revision.Version("i-a", NOW + 6))).isEqualTo(changed);
    assertThat(change("lost", null, new Revision.Version("i-lost", NOW + 5))).isEqualTo(changed);
    assertThat(
            store.revise(
                bucket, "a", new Revision(Due.in(1), null, new Revision.Version("i-a", NOW + 6))))
        .isEqualTo(changed);
    then(given);
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new Revision(
                    null, new Revision.NewContent("x", 1, 0, List.of(), new byte[0]), null));
  }

  @Test
  void aJobWithoutRecordCanBeMoved() {
    BucketState given = bucket().delayed("lost", NOW + 5).without("jobs", "lost");
    given(given);

    assertThat(move("lost", Due.in(9))).isEqualTo(revised(NOW + 9));
    then(given.with("delayed", "lost", Long.toString(NOW + 9)));
  }

  @Test
  void onlyAnEarlierEarliestDueTimeIsNews() {
    given(bucket().delayed("a", NOW + 100).delayed("b", NOW + 200));

    assertThat(move("b", Due.in(100))).isEqualTo(revised(NOW + 100));
    assertThat(move("b", Due.in(99))).isEqualTo(newHead(NOW + 99));
    assertThat(move("b", Due.in(99))).isEqualTo(revised(NOW + 99));
    assertThat(move("b", Due.in(500))).isEqualTo(revised(NOW + 500));
    assertThat(move("a", Due.in(0))).isEqualTo(newHead(NOW));
  }

  @Test
  void whatDoesNotWaitIsLeftAlone() {
    BucketState given =
        bucket()
            .reserved("runs", NOW + 5, "t-1 4 0 990000 980000 me")
            .dead("died", NOW)
            .tomb("ran", NOW + 1, "D", "x", 1)
            .tomb("cancelled", NOW + 1, "C", "x", 1)
            .tomb("forgotten", NOW, "D", "x", 1);
    given(given);

    assertAnswer("runs", Kind.IN_DELIVERY, 4);
    assertAnswer("died", Kind.DEAD, 0);
    assertAnswer("ran", Kind.FINISHED, 0);
    assertAnswer("cancelled", Kind.UNKNOWN, 0);
    assertAnswer("forgotten", Kind.UNKNOWN, 0);
    assertAnswer("never", Kind.UNKNOWN, 0);
    then(given);
  }

  private void assertAnswer(String id, Kind kind, int attempt) {
    Revised expected = Revised.refused(kind, attempt);
    assertThat(move(id, Due.in(0))).isEqualTo(expected);
    assertThat(change(id, null, new Revision.Version("i-" + id, NOW))).isEqualTo(expected);
  }
}
