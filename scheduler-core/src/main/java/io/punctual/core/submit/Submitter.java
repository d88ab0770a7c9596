package io.punctual.core.submit;

import io.punctual.core.QueueListener;
import io.punctual.core.Submit;
import io.punctual.core.event.EventEffects;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.EventTags;
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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  private final EventEffects effects;
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
    this.effects = new EventEffects(context.jobs());
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
      for (int i = 0; i < group.size(); i++) {
        answers.add(
            answer(group.get(i).submission(), submitted.items().get(i), submitted.reached()));
      }
      Map<Integer, StoreException> unclear = meetEvents(group, answers);
      Map<Submitted.Kind, Integer> kinds = new EnumMap<>(Submitted.Kind.class);
      answers.forEach(answer -> kinds.merge(answer.kind(), 1, Integer::sum));
      kinds.forEach(listener::submitted);
      for (int i = 0; i < group.size(); i++) {
        admission.leave(group.get(i).size());
        StoreException why = unclear.get(i);
        if (why == null) {
          group.get(i).answer().complete(answers.get(i));
        } else {
          group.get(i).answer().completeExceptionally(why);
        }
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

  /**
   * Does what events do that have come before these jobs. Behind the store's answer: an event that
   * comes from now on finds the jobs.
   *
   * @param answers those that change are replaced
   * @return by index, why it is not known whether an event has come; empty for most
   */
  private Map<Integer, StoreException> meetEvents(List<Entry> group, List<Submit> answers) {
    Set<String> named = new HashSet<>(0);
    for (Entry entry : group) {
      for (String tag : entry.submission().tags()) {
        if (EventTags.isOne(tag)) {
          named.add(EventTags.event(tag));
        }
      }
    }
    if (named.isEmpty()) {
      return Map.of();
    }
    Map<Integer, StoreException> unclear = new HashMap<>();
    Set<String> happened = Set.of();
    StoreException unread = null;
    try {
      happened = context.jobs().remembered(bucket.queue().application(), named);
    } catch (StoreException e) {
      unread = e;
    }
    for (int i = 0; i < group.size(); i++) {
      Submission submission = group.get(i).submission();
      if (!namesEvents(submission, answers.get(i))) {
        continue;
      }
      try {
        if (unread != null) {
          throw unread;
        }
        answers.set(i, met(submission, answers.get(i), happened));
      } catch (StoreException e) {
        unclear.put(i, e);
      }
    }
    return unclear;
  }

  private static boolean namesEvents(Submission submission, Submit answer) {
    return switch (answer.kind()) {
      case CREATED, REPLACED, ALREADY_THERE ->
          submission.tags().stream().anyMatch(EventTags::isOne);
      default -> false;
    };
  }

  private Submit met(Submission submission, Submit answer, Set<String> happened) {
    Submit met = answer;
    // From the end: those that cancel are behind those that make due.
    for (int i = submission.tags().size() - 1; i >= 0; i--) {
      String tag = submission.tags().get(i);
      if (EventTags.isOne(tag) && happened.contains(EventTags.event(tag))) {
        met = met(met, submission.taskId(), tag);
      }
    }
    return met;
  }

  private Submit met(Submit answer, String taskId, String tag) {
    EventEffects.Effect effect = effects.apply(bucket, taskId, tag);
    if (effect == null) {
      return answer;
    }
    if (effect.newHead() != null) {
      signal.head(effect.newHead());
    }
    return switch (effect.outcome()) {
      case CANCELLED, CANCELLING ->
          answer.changed(Submitted.Kind.CANCELLED_BY_EVENT, answer.dueAt(), effect.version());
      case DUE -> answer.changed(answer.kind(), effect.due(), effect.version());
      case IN_DELIVERY, DEAD -> answer;
    };
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
