package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Settlement.Op;
import io.punctual.core.store.Submission;
import io.punctual.core.store.query.Tagged;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TaggedIT extends TransitionTestBase {

  private static BucketState tag(BucketState state, String tag, String id) {
    return state.with("tags", tag + " " + id, "0");
  }

  private static BucketState tagged(String id, long due) {
    return tag(
        bucket().delayed(id, due).record(id, 3, "i-" + id + " 0 - - t\nbody of " + id), "t", id);
  }

  private static Submission job(String id, String content, boolean replace, String... tags) {
    return new Submission(
        id, "new-" + id, Due.at(NOW + 5), 5, 0, List.of(tags), bytes(content), replace);
  }

  @Test
  void tagsAreWrittenWithTheJob() {
    store.submit(bucket, List.of(job("a", "x", false, "u", "t", "u")));

    BucketState plain =
        bucket()
            .delayed("a", NOW + 5)
            .record("a", BucketState.numbers(5, NOW) + "new-a 0 - - t u\nx")
            .counted("submitted", 1);
    then(tag(tag(plain, "t", "a"), "u", "a"));
  }

  @Test
  void aReplacedJobHasTheNewTagsOnly() {
    given(tagged("a", NOW + 5));

    store.submit(bucket, List.of(job("a", "x", true, "u")));
    then(
        tag(bucket(), "u", "a")
            .delayed("a", NOW + 5)
            .record("a", BucketState.numbers(5, NOW) + "new-a 0 - - u\nx")
            .tries("a", "0 0 0 0 0 0 1000005 2")
            .counted("submitted", 1));
  }

  @Test
  void whoeverGoesTakesTheTagsAlong() {
    given(tagged("cancelled", NOW + 5));
    store.cancel(bucket, "cancelled", null);
    assertThat(reader.read(bucket).values("tags")).isEmpty();

    reader.write(bucket, tagged("purged", NOW + 5));
    store.purge(bucket, JobState.DELAYED, List.of("purged"));
    assertThat(reader.read(bucket).values("tags")).isEmpty();

    reader.write(bucket, tagged("acked", NOW));
    store.settle(
        bucket,
        List.of(
            new Settlement(Op.DONE, "acked", "i-acked", TOKEN, Duration.ZERO, false, new byte[0])));
    assertThat(reader.read(bucket).values("tags")).isEmpty();
  }

  @Test
  void jobsOfEveryStateAreListedByIdInPages() {
    BucketState given = tag(bucket().reserved("b", NOW + 5, HELD), "t", "b");
    given = tag(given.dead("c", NOW), "t", "c");
    for (String id : List.of("a", "B", "a-1", "z")) {
      given = tag(given.delayed(id, NOW + 7), "t", id);
    }
    // Neighbours in the index: another tag that begins with ours, and a lost job.
    given = tag(tag(given.delayed("n", 1), "t!", "n"), "s", "n").with("tags", "t gone", "0");
    given(given);

    List<String> ids = new ArrayList<>();
    List<JobState> states = new ArrayList<>();
    @Nullable String after = null;
    do {
      Tagged page = store.tagged(bucket, "t", after, 2);
      page.jobs().forEach(job -> ids.add(job.taskId()));
      page.jobs().forEach(job -> states.add(job.state()));
      after = page.next();
    } while (after != null);
    assertThat(ids).containsExactly("B", "a", "a-1", "b", "c", "z");
    assertThat(states)
        .containsExactly(
            JobState.DELAYED,
            JobState.DELAYED,
            JobState.DELAYED,
            JobState.RESERVED,
            JobState.DEAD,
            JobState.DELAYED);
    assertThat(store.tagged(bucket, "none", null, 2)).isEqualTo(new Tagged(List.of(), null));
    then(given);
  }

  @Test
  void aTagWithoutFormIsRefused() {
    for (String bad : List.of("", "a b", "a,b", "\u00e4", "x".repeat(65))) {
      assertThatIllegalArgumentException().isThrownBy(() -> job("a", "x", false, bad));
    }
  }
}
