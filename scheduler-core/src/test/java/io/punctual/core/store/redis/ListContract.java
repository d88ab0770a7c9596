package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.store.Submission;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.query.Page;
import io.punctual.core.store.query.Tagged;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the jobs of a state are listed. */
abstract class ListContract extends TransitionTestBase {

  ListContract() {}

  ListContract(Connected redis) {
    super(redis);
  }

  private List<String> ids(JobState state, int pageSize) {
    List<String> all = new ArrayList<>();
    @Nullable Cursor cursor = null;
    do {
      Page page = store.list(bucket, state, cursor, pageSize);
      assertThat(page.jobs()).hasSizeLessThanOrEqualTo(pageSize);
      page.jobs().forEach(job -> all.add(job.taskId()));
      cursor = page.next();
    } while (cursor != null);
    return all;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 7, 200})
  void allJobsOfAStateAreListedInOrderWhateverThePageSize(int pageSize) {
    BucketState given =
        bucket()
            .delayed("z", 1)
            .delayed("b", 5)
            .delayed("B", 5)
            .delayed("a", 5)
            .delayed("ab", 5)
            .delayed("a:1", 5)
            .delayed("c", 7)
            .reserved("r2", 9, HELD)
            .reserved("r1", 8, HELD)
            .dead("x", 3);
    given(given);

    assertThat(ids(JobState.DELAYED, pageSize))
        .containsExactly("z", "B", "a", "a:1", "ab", "b", "c");
    assertThat(ids(JobState.RESERVED, pageSize)).containsExactly("r1", "r2");
    assertThat(ids(JobState.DEAD, pageSize)).containsExactly("x");
    then(given);
  }

  @Test
  void aPageOfLargeJobsIsShort() {
    List<String> large = new ArrayList<>();
    for (int i = 10; i < 50; i++) {
      String id = "job-" + i;
      large.add(id);
      store.submit(
          bucket,
          List.of(
              new Submission(
                  id, "i-" + id, Due.at(NOW + i), 5, 0, List.of("t"), new byte[250_000], false)));
    }

    Page page = store.list(bucket, JobState.DELAYED, null, 200);
    assertThat(page.jobs()).hasSizeBetween(10, 20);
    assertThat(page.next()).isNotNull();
    assertThat(ids(JobState.DELAYED, 200)).isEqualTo(large);

    List<String> tagged = new ArrayList<>();
    String last = null;
    do {
      Tagged some = store.tagged(bucket, "t", last, 200);
      assertThat(some.jobs()).hasSizeBetween(1, 20);
      some.jobs().forEach(job -> tagged.add(job.taskId()));
      last = some.next();
    } while (last != null);
    assertThat(tagged).isEqualTo(large);
  }

  @Test
  void everyEntryHasAllButTheContent() {
    given(
        bucket()
            .reserved("a", NOW + 9, "t-1 4 1 990000 980000 2 me")
            .record("a", 3, "i-a 5000 - - x y\n" + "content".repeat(1_000))
            .tries("a", "1 2 1 1 2 1 970000 3")
            .error("a", "960000 unknown retry 1 990000 4\nnote")
            .with("reserved", "noRecord", "1000010"));

    List<JobView> jobs = store.list(bucket, JobState.RESERVED, null, 10).jobs();

    assertThat(jobs.get(0).now()).isEqualTo(NOW);
    assertThat(jobs.get(0).state()).isEqualTo(JobState.RESERVED);
    assertThat(jobs.get(0).at()).isEqualTo(NOW + 9);
    JobRecord record = Objects.requireNonNull(jobs.get(0).record());
    assertThat(record.incarnation()).isEqualTo("i-a");
    assertThat(record.maxAttempts()).isEqualTo(3);
    assertThat(record.acceptedAt()).isEqualTo(500_000);
    assertThat(record.timeToRun()).isEqualTo(5_000);
    assertThat(record.tags()).containsExactly("x", "y");
    assertThat(record.content()).isEmpty();
    assertThat(jobs.get(0).tries().unknown()).isEqualTo(2);
    assertThat(Objects.requireNonNull(jobs.get(0).lease()).attempt()).isEqualTo(4);
    assertThat(jobs.get(0).failures().get(0).note().message()).isEqualTo("note");
    assertThat(jobs.get(1).record()).isNull();
  }

  @Test
  void aListGoesOnWhereItWasEvenWhenThatJobIsGone() {
    given(bucket().dead("a", 5).dead("b", 5).dead("c", 5).dead("d", 6));

    Cursor behindB = store.list(bucket, JobState.DEAD, null, 2).next();
    assertThat(behindB).isEqualTo(new Cursor(5, "b"));
    store.purge(bucket, JobState.DEAD, List.of("b"));

    assertThat(store.list(bucket, JobState.DEAD, behindB, 10).jobs())
        .extracting(JobView::taskId)
        .containsExactly("c", "d");
    assertThat(store.list(bucket, JobState.DEAD, new Cursor(4, "zzz"), 10).jobs()).hasSize(3);
    assertThat(store.list(bucket, JobState.DEAD, new Cursor(6, "d"), 10).jobs()).isEmpty();
    assertThat(store.list(bucket, JobState.DEAD, new Cursor(7, "a"), 10).jobs()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 200})
  void theNewestComeFirstWhereThatIsAskedFor(int pageSize) {
    given(bucket().dead("z", 1).dead("b", 5).dead("B", 5).dead("a", 5).dead("ab", 5).dead("c", 7));

    List<String> all = new ArrayList<>();
    @Nullable Cursor cursor = null;
    do {
      Page page = store.list(bucket, JobState.DEAD, true, cursor, pageSize);
      page.jobs().forEach(job -> all.add(job.taskId()));
      cursor = page.next();
    } while (cursor != null);

    assertThat(all).containsExactly("c", "b", "ab", "a", "B", "z");
  }

  @Test
  void theNewestGoOnWhereTheyWereEvenWhenThatJobIsGone() {
    given(bucket().dead("a", 5).dead("b", 5).dead("c", 5).dead("d", 6));

    Cursor behindC = store.list(bucket, JobState.DEAD, true, null, 2).next();
    assertThat(behindC).isEqualTo(new Cursor(5, "c"));
    store.purge(bucket, JobState.DEAD, List.of("c"));

    assertThat(store.list(bucket, JobState.DEAD, true, behindC, 10).jobs())
        .extracting(JobView::taskId)
        .containsExactly("b", "a");
    assertThat(store.list(bucket, JobState.DEAD, true, new Cursor(7, "a"), 10).jobs()).hasSize(3);
    assertThat(store.list(bucket, JobState.DEAD, true, new Cursor(5, "a"), 10).jobs()).isEmpty();
    // Its id died again since.
    assertThat(store.list(bucket, JobState.DEAD, true, new Cursor(9, "a"), 10).jobs()).hasSize(3);
  }

  @Test
  void anEmptyListEndsAtOnce() {
    Page page = store.list(bucket, JobState.DELAYED, null, 10);
    assertThat(page.jobs()).isEmpty();
    assertThat(page.next()).isNull();
  }

  @Test
  void onlyStatesOfStoredJobsCanBeListed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.list(bucket, JobState.FINISHED, null, 10))
        .withMessage("only DELAYED, RESERVED and DEAD can be listed, not FINISHED");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.list(bucket, JobState.DEAD, null, 201));
  }
}
