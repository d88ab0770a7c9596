package io.punctual.core.runtime;

import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.deliver.ClaimTime;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.RandomNames;
import io.punctual.core.store.Claim;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.QueueDirectory;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.durability.Epoch;
import io.punctual.core.store.durability.EpochMarker;
import io.punctual.core.store.durability.LossEntry;
import io.punctual.core.store.durability.StoreInspector;
import io.punctual.core.store.durability.StoreLoss;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.store.query.BucketStats;
import io.punctual.core.store.query.JobSnapshot;
import io.punctual.core.work.Threads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * An engine that does nothing by itself: whoever has it says when leases are expired and when a job
 * is handed out, and each of these happens on the thread that says so. Together with a store whose
 * clock is moved by hand this is time in a test: everything else, from what a submit answers to how
 * long a job waits after its third failure, is the code that runs in a scheduler.
 *
 * <p>Steps must not be asked for by two threads at once. The engine's doors may be used by any
 * thread; an answer is there when they return, unless another thread is in the same door. The store
 * must always answer: nothing is tried again.
 */
public final class Stepper {

  private static final Dispatcher NOBODY =
      new Dispatcher() {
        @Override
        public int capacity(QueueName queue) {
          return 0;
        }

        @Override
        public void dispatch(QueueName queue, List<Delivery> deliveries) {
          throw new IllegalStateException("jobs are claimed from the stepper");
        }
      };

  private final JobStore jobs;
  private final EngineOptions options;
  private final ScanningEngine engine;

  /** When a bound of a bucket, of which something is due, lets the next job out; epoch ms. */
  private final Map<Bucket, Long> bounded = new HashMap<>();

  private record Head(BucketWorker worker, long due) {}

  /**
   * @param random what jitter is drawn from
   */
  public Stepper(
      JobStore jobs, QueueDirectory queues, EngineOptions options, RandomGenerator random) {
    this.jobs = jobs;
    this.options = options;
    Alone alone = new Alone();
    this.engine =
        new ScanningEngine(
            new Store(jobs, queues, listener -> () -> {}, alone, alone, new StoreCalls()),
            options,
            NOBODY,
            null,
            Threads::ofCaller,
            () -> random);
  }

  /** The doors of the engine; it cannot be started. */
  public Engine engine() {
    return engine;
  }

  /**
   * Takes all jobs back whose lease ran out.
   *
   * @return how many there were
   */
  public int expire() {
    int expired = 0;
    for (BucketWorker worker : workers(queue -> true)) {
      int some;
      do {
        var answer = jobs.expire(worker.bucket, JobStore.MAX_JOBS);
        some = answer.retried() + answer.dead();
        expired += some;
      } while (some == JobStore.MAX_JOBS);
    }
    return expired;
  }

  /**
   * Hands out the earliest job that is due; at the same due time, in the order of queues and ids.
   * Its lease is not kept alive: unless it is ended, the job comes back once that ran out.
   *
   * @param served from which queues
   * @return empty if nothing is due that may go out
   */
  public Optional<Delivery> claim(Predicate<QueueName> served) {
    List<Head> heads = new ArrayList<>();
    for (BucketWorker worker : workers(served)) {
      Long due = jobs.stats(worker.bucket).oldestReady();
      if (due != null) {
        heads.add(new Head(worker, due));
      }
    }
    // Stable: workers come in the order of their queues.
    heads.sort(Comparator.comparingLong(Head::due));
    for (Head head : heads) {
      Optional<Delivery> delivery = claim(head.worker());
      if (delivery.isPresent()) {
        return delivery;
      }
    }
    return Optional.empty();
  }

  private Optional<Delivery> claim(BucketWorker worker) {
    bounded.remove(worker.bucket);
    while (true) {
      Claim claim =
          jobs.claim(
              worker.bucket,
              1,
              options.lease(),
              JobStore.ClaimMode.PUSH,
              RandomNames.leaseToken(),
              options.owner());
      if (claim.jobs().isEmpty() && claim.corrupt().isEmpty()) {
        Long next = claim.nextDue();
        if (next != null) {
          bounded.put(worker.bucket, next);
        }
        return Optional.empty();
      }
      List<Delivery> open = worker.deliveries.open(claim.jobs(), new ClaimTime(0, claim.now(), 0));
      if (!open.isEmpty()) {
        return Optional.of(open.get(0));
      }
    }
  }

  /**
   * When there is next something to do, provided that nothing is left to be done now.
   *
   * @param served the queues from which jobs are handed out
   * @return epoch ms of a due time or of the end of a lease; empty if nothing waits
   */
  public OptionalLong next(Predicate<QueueName> served) {
    long next = Long.MAX_VALUE;
    for (BucketWorker worker : workers(queue -> true)) {
      if (served.test(worker.bucket.queue())) {
        BucketStats stats = jobs.stats(worker.bucket);
        next = Math.min(next, stats.pausedSince() != null ? Long.MAX_VALUE : due(worker, stats));
      }
      for (JobSnapshot held : jobs.list(worker.bucket, JobState.RESERVED, null, 1).jobs()) {
        next = Math.min(next, held.at());
      }
    }
    return next == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(next);
  }

  private long due(BucketWorker worker, BucketStats stats) {
    @Nullable Long held = stats.ready() > 0 ? bounded.get(worker.bucket) : null;
    long first = stats.nextDue() == null ? Long.MAX_VALUE : stats.nextDue();
    return held != null && held > stats.now() ? Math.min(first, held) : first;
  }

  private List<BucketWorker> workers(Predicate<QueueName> which) {
    return engine.queues().keySet().stream()
        .filter(which)
        .sorted()
        .flatMap(queue -> engine.seen().find(queue).stream())
        .flatMap(queue -> queue.workers.stream())
        .toList();
  }

  /** Nobody else works on the store, and it loses nothing. */
  private static final class Alone implements StoreInspector, EpochMarker {

    @Override
    public List<StoreNode> nodes() {
      return List.of();
    }

    @Override
    public long now() {
      return 0;
    }

    @Override
    public Durability durability() {
      return Durability.DEFAULT;
    }

    @Override
    public boolean synced(String node) {
      return false;
    }

    @Override
    public boolean allReplicated(Duration within) {
      return false;
    }

    @Override
    public List<StoreNode.Finding> replicas() {
      return List.of();
    }

    @Override
    public List<StoreNode.Finding> failOver(Duration lease) {
      return List.of();
    }

    @Override
    public List<String> obstacles(List<StoreNode> nodes) {
      return List.of();
    }

    @Override
    public List<Epoch> advance() {
      return List.of(new Epoch("", "", 0, 0, "stepped", 0, 0));
    }

    @Override
    public Set<String> marks() {
      return Set.of("");
    }

    @Override
    public void report(String name, StoreLoss loss) {}

    @Override
    public void recordLook() {}

    @Override
    public List<StoreLoss> losses() {
      return List.of();
    }

    @Override
    public void record(List<Notice> notices) {}

    @Override
    public List<LossEntry> journal() {
      return List.of();
    }

    @Override
    public void acknowledge() {}
  }
}
