package io.punctual.core.admin;

import io.punctual.DelayQueueJob.Event;
import io.punctual.RetryPolicy;
import io.punctual.core.EngineOptions;
import io.punctual.core.Operations;
import io.punctual.core.event.EventEffects;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.Due;
import io.punctual.core.job.EventTags;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobContentCodec;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.Origin;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.RandomNames;
import io.punctual.core.job.Throttle;
import io.punctual.core.recovery.Outages;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Paused;
import io.punctual.core.store.QueueDirectory;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Revised;
import io.punctual.core.store.Revision;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.Forecast;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.query.Page;
import io.punctual.core.store.query.Tagged;
import io.punctual.core.store.query.Undoable;
import io.punctual.core.times.Hours;
import io.punctual.core.times.StartTimes;
import io.punctual.core.wake.BucketSignal;
import io.punctual.schedule.TimeRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Looks after the queues, straight on the store. */
public final class StoreOperations implements Operations {

  /** How often a change is tried on a job that others change at the same time. */
  private static final int TRIES = 8;

  // As the store has it; ids are ASCII.
  private static final Comparator<Cursor> ORDER =
      Comparator.comparingLong(Cursor::score).thenComparing(Cursor::taskId);

  private final JobStore jobs;
  private final EngineOptions options;
  private final StartTimes times;
  private final Function<QueueName, List<BucketSignal>> buckets;
  private final QueueDirectory directory;
  private final BiConsumer<Bucket, String> cancelling;
  private final EventEffects effects;

  /**
   * @param buckets gives those of a queue, by their index; none if the queue is not known
   * @param directory of all queues
   * @param cancelling gets each running job that must stop
   */
  public StoreOperations(
      JobStore jobs,
      EngineOptions options,
      StartTimes times,
      Function<QueueName, List<BucketSignal>> buckets,
      QueueDirectory directory,
      BiConsumer<Bucket, String> cancelling) {
    this.jobs = jobs;
    this.options = options;
    this.times = times;
    this.buckets = buckets;
    this.directory = directory;
    this.effects = new EventEffects(jobs);
    this.cancelling = cancelling;
  }

  private static Cursor place(JobView job) {
    return new Cursor(job.at(), job.taskId());
  }

  @Override
  public Listed<Cursor> jobs(
      QueueName queue, JobState state, boolean newestFirst, @Nullable Cursor after, int max) {
    Comparator<Cursor> order = newestFirst ? ORDER.reversed() : ORDER;
    List<JobView> found = new ArrayList<>();
    Cursor known = null;
    List<BucketSignal> all = buckets.apply(queue);
    for (BucketSignal bucket : all) {
      // Every bucket has the same order, so one place is a place in all of them.
      Page page = jobs.list(bucket.bucket(), state, newestFirst, after, max);
      found.addAll(page.jobs());
      Cursor next = page.next();
      if (next != null && (known == null || order.compare(next, known) < 0)) {
        known = next;
      }
    }
    found.sort(Comparator.comparing(StoreOperations::place, order));
    // Behind where the first bucket's page ends, that bucket may have others.
    Cursor end = known;
    List<JobView> shown =
        found.stream()
            .filter(job -> end == null || order.compare(place(job), end) <= 0)
            .limit(max)
            .toList();
    return new Listed<>(
        shown,
        shown.size() < found.size() || end != null ? place(shown.get(shown.size() - 1)) : null,
        all.size());
  }

  @Override
  public Listed<TagCursor> tagged(QueueName queue, String tag, @Nullable TagCursor after, int max) {
    List<JobView> found = new ArrayList<>();
    int calls = 0;
    for (BucketSignal bucket : buckets.apply(queue)) {
      int index = bucket.bucket().index();
      if (after != null && index < after.bucket()) {
        continue;
      }
      String last = null;
      if (after != null && index == after.bucket() && !after.taskId().isEmpty()) {
        last = after.taskId();
      }
      do {
        if (found.size() == max) {
          return new Listed<>(found, new TagCursor(index, last == null ? "" : last), calls);
        }
        Tagged page = jobs.tagged(bucket.bucket(), tag, last, max - found.size());
        calls++;
        found.addAll(page.jobs());
        last = page.next();
      } while (last != null);
    }
    return new Listed<>(found, null, calls);
  }

  @Override
  public Cancelled cancel(
      QueueName queue,
      String taskId,
      @Nullable JobVersion seen,
      boolean interrupt,
      @Nullable String by,
      @Nullable String operation) {
    Optional<BucketSignal> found = bucket(queue, taskId);
    if (found.isEmpty()) {
      return new Cancelled(Cancelled.Kind.UNKNOWN, 0, 0);
    }
    Bucket bucket = found.get().bucket();
    Cancelled cancelled = jobs.cancel(bucket, taskId, seen, interrupt, by, operation);
    if (cancelled.kind() == Cancelled.Kind.CANCELLING) {
      // Without the wake-up channel, which tells the others.
      cancelling.accept(bucket, taskId);
    }
    return cancelled;
  }

  @Override
  public Restored restore(QueueName queue, String taskId, @Nullable String operation) {
    Optional<BucketSignal> found = bucket(queue, taskId);
    if (found.isEmpty()) {
      return Restored.refused(Restored.Kind.UNKNOWN);
    }
    BucketSignal bucket = found.get();
    Restored restored = jobs.restore(bucket.bucket(), taskId, operation);
    wake(bucket, restored.newHead());
    return restored;
  }

  @Override
  public Kept undoable(QueueName queue, String operation, @Nullable Cursor after, int max) {
    List<Undoable.Item> found = new ArrayList<>();
    Cursor known = null;
    List<BucketSignal> all = buckets.apply(queue);
    for (BucketSignal bucket : all) {
      // As in a list: one place is a place in all buckets.
      Undoable page = jobs.undoable(bucket.bucket(), operation, after, max);
      found.addAll(page.items());
      Cursor next = page.next();
      if (next != null && (known == null || ORDER.compare(next, known) < 0)) {
        known = next;
      }
    }
    Cursor end = known;
    List<Undoable.Item> shown =
        found.stream()
            .filter(item -> end == null || ORDER.compare(item.place(), end) <= 0)
            .sorted(Comparator.comparing(Undoable.Item::place, ORDER))
            .toList();
    return shown.size() > max
        ? new Kept(shown.subList(0, max), shown.get(max - 1).place(), all.size())
        : new Kept(shown, end, all.size());
  }

  @Override
  public Requeued.Item requeue(QueueName queue, String taskId, @Nullable JobVersion seen) {
    Optional<BucketSignal> found = bucket(queue, taskId);
    if (found.isEmpty()) {
      return new Requeued.Item(Requeued.Kind.REFUSED, null);
    }
    BucketSignal bucket = found.get();
    Requeued requeued =
        jobs.requeue(bucket.bucket(), List.of(new Requeue(taskId, seen)), Duration.ZERO);
    wake(bucket, requeued.newHead());
    return requeued.items().get(0);
  }

  private static void wake(BucketSignal bucket, @Nullable Long newHead) {
    if (newHead != null) {
      bucket.signal().head(newHead);
    }
  }

  @Override
  public Revised revise(
      QueueName queue,
      String taskId,
      @Nullable Due due,
      @Nullable UnaryOperator<JobContent> change,
      @Nullable JobVersion seen) {
    Optional<BucketSignal> found = bucket(queue, taskId);
    if (found.isEmpty()) {
      return Revised.refused(Revised.Kind.UNKNOWN, 0, null);
    }
    BucketSignal bucket = found.get();
    Revised revised;
    int tries = 0;
    do {
      revised =
          change == null
              ? jobs.revise(bucket.bucket(), taskId, new Revision(due, null, seen))
              : revise(bucket.bucket(), queue, taskId, due, change, seen);
      tries++;
    } while (revised.kind() == Revised.Kind.CHANGED && seen == null && tries < TRIES);
    wake(bucket, revised.newHead());
    return revised;
  }

  private Revised revise(
      Bucket bucket,
      QueueName queue,
      String taskId,
      @Nullable Due due,
      UnaryOperator<JobContent> change,
      @Nullable JobVersion seen) {
    Optional<JobView> found = jobs.find(bucket, taskId);
    JobRecord record = found.map(JobView::record).orElse(null);
    if (found.isEmpty() || record == null || found.get().state() != JobState.DELAYED) {
      return refused(found, seen);
    }
    JobContent content = change.apply(content(record));
    RetryPolicy retry = content.retry() != null ? content.retry() : options.retry().apply(queue);
    StartTimes.Placement placement =
        times.place(
            taskId,
            content,
            due != null ? due : Due.at(found.get().at()),
            record.acceptedAt(),
            found.get().now());
    Revision.NewContent revised =
        new Revision.NewContent(
            RandomNames.incarnation(),
            retry.maxAttempts(),
            content.timeToRun() == null ? 0 : content.timeToRun().toMillis(),
            Origin.of(content.headers(), record.origin().submitter()),
            placement.tags(),
            JobContentCodec.encode(
                content.toBuilder().headers(Origin.withoutTrace(content.headers())).build()));
    JobVersion read = new JobVersion(record.incarnation(), found.get().version());
    return jobs.revise(
        bucket,
        taskId,
        new Revision(due == null ? null : placement.due(), revised, seen != null ? seen : read));
  }

  private static Revised refused(Optional<JobView> found, @Nullable JobVersion seen) {
    if (found.isEmpty()) {
      return Revised.refused(Revised.Kind.UNKNOWN, 0, null);
    }
    JobView job = found.get();
    JobRecord record = job.record();
    JobVersion version =
        job.version() == 0
            ? null
            : new JobVersion(record == null ? "" : record.incarnation(), job.version());
    if (seen != null && !seen.equals(version)) {
      return Revised.refused(Revised.Kind.CHANGED, 0, version);
    }
    return switch (job.state()) {
      case RESERVED ->
          Revised.refused(
              Revised.Kind.IN_DELIVERY, job.lease() == null ? 0 : job.lease().attempt(), version);
      case DEAD -> Revised.refused(Revised.Kind.DEAD, 0, version);
      case FINISHED -> Revised.refused(Revised.Kind.FINISHED, 0, version);
      case CANCELLED -> Revised.refused(Revised.Kind.UNKNOWN, 0, version);
      // Its record is gone.
      case DELAYED -> Revised.refused(Revised.Kind.CHANGED, 0, version);
    };
  }

  private static JobContent content(JobRecord record) {
    try {
      return record.read();
    } catch (CorruptContentException e) {
      // Nothing of it can be kept.
      return JobContent.of(Due.in(0)).build();
    }
  }

  @Override
  public @Nullable Long pause(QueueName queue, Pause.@Nullable Terms terms) {
    List<BucketSignal> all = buckets.apply(queue);
    if (all.isEmpty()) {
      throw new NoSuchElementException("no queue " + queue + " is known");
    }
    return pause(all, Pause.Scope.QUEUE, terms);
  }

  private @Nullable Long pause(
      List<BucketSignal> all, Pause.Scope scope, Pause.@Nullable Terms terms) {
    Long since = null;
    for (BucketSignal bucket : all) {
      Paused answer = jobs.pause(bucket.bucket(), scope, terms);
      wake(bucket, answer.newHead());
      since = since == null ? answer.since() : since;
    }
    return since;
  }

  @Override
  public ApplicationPaused pauseApplication(String application, Pause.@Nullable Terms terms) {
    String own = new QueueName(application, "any").application();
    // First: a queue that is not in the directory below is made later, and finds it.
    Pause pause = directory.pause(own, terms);
    int queues = 0;
    List<QueueName> damaged = new ArrayList<>();
    for (QueueName queue : directory.all().keySet()) {
      if (!queue.application().equals(own)) {
        continue;
      }
      queues++;
      try {
        var unused = pause(buckets.apply(queue), Pause.Scope.APPLICATION, terms);
      } catch (StoreException e) {
        if (!Outages.isDamage(e)) {
          throw e;
        }
        damaged.add(queue);
      }
    }
    return new ApplicationPaused(pause, queues, damaged);
  }

  @Override
  public void limit(QueueName queue, Throttle throttle) {
    List<BucketSignal> all = buckets.apply(queue);
    if (all.isEmpty()) {
      throw new NoSuchElementException("no queue " + queue + " is known");
    }
    Integer concurrency = throttle.concurrency();
    if (concurrency != null && concurrency < all.size()) {
      throw new IllegalArgumentException(
          "concurrency must be at least the number of the queue's buckets, " + all.size());
    }
    for (BucketSignal bucket : all) {
      Long head =
          jobs.limit(bucket.bucket(), Views.part(throttle, bucket.bucket().index(), all.size()));
      if (head != null) {
        bucket.signal().ask();
      }
    }
  }

  @Override
  public void dropExpired(QueueName queue, boolean drop) {
    List<BucketSignal> all = buckets.apply(queue);
    if (all.isEmpty()) {
      throw new NoSuchElementException("no queue " + queue + " is known");
    }
    all.forEach(bucket -> jobs.dropExpired(bucket.bucket(), drop));
  }

  @Override
  public void hours(QueueName queue, TimeRules hours) {
    List<BucketSignal> all = buckets.apply(queue);
    if (all.isEmpty()) {
      throw new NoSuchElementException("no queue " + queue + " is known");
    }
    String text = Hours.text(hours);
    for (BucketSignal bucket : all) {
      if (jobs.hours(bucket.bucket(), text) != null) {
        bucket.signal().ask();
      }
    }
  }

  @Override
  public EventDone event(String application, Event event) {
    String own = new QueueName(application, "any").application();
    // First. A job that is not found below is stored later, and its submit reads the memory.
    jobs.remember(own, EventTags.text(event), options.eventMemory());
    List<EventItem> items = new ArrayList<>();
    List<QueueName> damaged = new ArrayList<>();
    for (QueueName queue : directory.all().keySet()) {
      if (!queue.application().equals(own)) {
        continue;
      }
      for (BucketSignal bucket : buckets.apply(queue)) {
        try {
          event(bucket, EventTags.cancelOn(event), items);
          event(bucket, EventTags.runOn(event), items);
        } catch (StoreException e) {
          if (!Outages.isDamage(e)) {
            throw e;
          }
          damaged.add(queue);
        }
      }
    }
    return new EventDone(items, damaged.stream().distinct().toList());
  }

  private void event(BucketSignal bucket, String tag, List<EventItem> items) {
    String last = null;
    do {
      Tagged page = jobs.tagged(bucket.bucket(), tag, last, JobStore.MAX_JOBS);
      for (JobView job : page.jobs()) {
        EventEffects.Effect effect = effects.apply(bucket.bucket(), job, tag);
        if (effect == null) {
          continue;
        }
        wake(bucket, effect.newHead());
        if (effect.outcome() == EventOutcome.CANCELLING) {
          cancelling.accept(bucket.bucket(), job.taskId());
        }
        items.add(new EventItem(bucket.bucket().queue(), job.taskId(), effect.outcome()));
      }
      last = page.next();
    } while (last != null);
  }

  @Override
  public boolean purge(QueueName queue, JobState state, String taskId) {
    return bucket(queue, taskId)
        .filter(found -> jobs.purge(found.bucket(), state, List.of(taskId)) > 0)
        .isPresent();
  }

  @Override
  public Forecast forecast(List<QueueName> queues, Duration width, int intervals) {
    long now = 0;
    long ready = 0;
    long[] counts = new long[intervals];
    for (QueueName queue : queues) {
      for (BucketSignal bucket : buckets.apply(queue)) {
        Forecast one;
        try {
          one = jobs.forecast(bucket.bucket(), width, intervals);
        } catch (StoreException e) {
          if (!Outages.isDamage(e)) {
            throw e;
          }
          continue;
        }
        now = Math.max(now, one.now());
        ready += one.ready();
        for (int i = 0; i < intervals; i++) {
          counts[i] += one.counts().get(i);
        }
      }
    }
    return new Forecast(now, ready, java.util.Arrays.stream(counts).boxed().toList());
  }

  private Optional<BucketSignal> bucket(QueueName queue, String taskId) {
    List<BucketSignal> all = buckets.apply(queue);
    return all.isEmpty()
        ? Optional.empty()
        : Optional.of(all.get(Bucket.of(queue, taskId, all.size()).index()));
  }
}
