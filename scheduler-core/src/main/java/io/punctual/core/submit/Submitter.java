package io.punctual.core.submit;

import io.punctual.core.QueueListener;
import io.punctual.core.Submit;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobContentCodec;
import io.punctual.core.job.JobRecord;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.durability.Reached;
import io.punctual.core.times.StartTimes;
import io.punctual.core.wake.StoreClock;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Context;
import io.punctual.core.work.GroupCommit;
import io.punctual.core.work.Refusals;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Stores the submissions of one bucket in groups. A call that fails fails the submissions that were
 * in it; whether to repeat is the submitter's choice. One that had no answer fails those that wait
 * behind it, too: each group would wait as long, one after the other.
 */
public final class Submitter {

  // A script must take a few milliseconds at most: large bodies travel in smaller groups.
  private static final long MAX_GROUP_BYTES = 1 << 20;

  private final Bucket bucket;
  private final Context context;
  private final Admission admission;
  private final StoreClock clock;
  private final StartTimes times;
  private final WakeSignal signal;
  private final QueueListener listener;
  private final GroupCommit<Entry> commit;

  private volatile boolean unanswered;

  private record Entry(Submission submission, CompletableFuture<Submit> answer) {
    int size() {
      return submission.content().length;
    }
  }

  public Submitter(
      Bucket bucket,
      Context context,
      Admission admission,
      StoreClock clock,
      StartTimes times,
      WakeSignal signal,
      QueueListener listener) {
    this.bucket = bucket;
    this.context = context;
    this.admission = admission;
    this.clock = clock;
    this.times = times;
    this.signal = signal;
    this.listener = listener;
    this.commit =
        new GroupCommit<>(
            "Submits to " + bucket,
            context.threads(),
            context.defects(),
            JobStore.MAX_JOBS,
            MAX_GROUP_BYTES,
            Entry::size,
            this::write,
            this::drop);
  }

  /** Stores a submission that {@link Admission} has let in. */
  public void submit(Submission submission, CompletableFuture<Submit> answer) {
    Entry entry = new Entry(submission, answer);
    // While there is no answer, those of one call find out whether there is one again.
    if (unanswered && commit.size() >= JobStore.MAX_JOBS) {
      fail(List.of(entry), Refusals.behind());
      return;
    }
    if (!commit.add(entry)) {
      drop(List.of(entry), null);
    }
  }

  public void close() {
    commit.close();
  }

  private GroupCommit.@Nullable Again<Entry> write(List<Entry> group) {
    try {
      Submitted submitted =
          context
              .jobs()
              .submit(bucket, group.stream().map(entry -> placed(entry.submission())).toList());
      clock.answered(submitted.now());
      unanswered = false;
      if (submitted.newHead() != null) {
        signal.head(submitted.newHead());
      }
      List<Submit> answers = new ArrayList<>(group.size());
      Map<Submitted.Kind, Integer> kinds = new EnumMap<>(Submitted.Kind.class);
      for (int i = 0; i < group.size(); i++) {
        Submit answer =
            answer(group.get(i).submission(), submitted.items().get(i), submitted.reached());
        answers.add(answer);
        kinds.merge(answer.kind(), 1, Integer::sum);
      }
      kinds.forEach(listener::submitted);
      for (int i = 0; i < group.size(); i++) {
        admission.leave(group.get(i).size());
        group.get(i).answer().complete(answers.get(i));
      }
    } catch (StoreException e) {
      fail(group, e);
      if (e.kind() == StoreException.Kind.UNREACHABLE
          || e.kind() == StoreException.Kind.UNCONFIRMED) {
        unanswered = true;
        commit.dropWaiting();
      }
    }
    return null;
  }

  /** The submission where the time rules of its job put it. */
  private Submission placed(Submission submission) {
    if (!JobContentCodec.hasTimeRules(submission.content())) {
      return submission;
    }
    JobContent content = JobContentCodec.decode(submission.content());
    long now = clock.now();
    StartTimes.Placement placement =
        times.place(submission.taskId(), content, submission.due(), now, now);
    return submission.with(placement.due(), placement.tags());
  }

  private void drop(List<Entry> group, @Nullable Throwable why) {
    fail(group, why != null ? why : unanswered ? Refusals.behind() : Refusals.closed());
  }

  /** How many submissions wait. */
  public int size() {
    return commit.size();
  }

  private void fail(List<Entry> group, Throwable e) {
    int failed = 0;
    for (Entry entry : group) {
      if (!entry.answer().isDone()) {
        admission.leave(entry.size());
        entry.answer().completeExceptionally(e);
        failed++;
      }
    }
    if (failed > 0) {
      listener.notSubmitted(failed);
    }
  }

  private static Submit answer(Submission submission, Submitted.Item item, Reached reached) {
    return new Submit(
        item.kind(),
        item.due(),
        item.attempt(),
        item.version(),
        differing(submission, item.existing()),
        reached);
  }

  private static List<String> differing(Submission submission, @Nullable JobRecord existing) {
    if (existing == null) {
      return List.of();
    }
    try {
      JobContent wanted = JobContentCodec.decode(submission.content());
      return ConflictFields.between(wanted, JobContentCodec.decode(existing.content()));
    } catch (CorruptContentException e) {
      return List.of();
    }
  }

  @Override
  public String toString() {
    return bucket.toString();
  }
}
