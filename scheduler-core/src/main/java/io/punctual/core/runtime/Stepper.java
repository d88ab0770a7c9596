package io.punctual.core.runtime;

import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.calendar.CalendarStore;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.scan.ScanSignals;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Members;
import io.punctual.core.store.QueueDirectory;
import io.punctual.core.store.ScheduleStore;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.durability.Epoch;
import io.punctual.core.store.durability.EpochMarker;
import io.punctual.core.store.durability.LossEntry;
import io.punctual.core.store.durability.StoreInspector;
import io.punctual.core.store.durability.StoreLoss;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.wake.WakePlan;
import io.punctual.core.work.Threads;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * An engine that does nothing by itself: its scanners have their turns when a step is asked for, on
 * the thread that asks. Together with a store whose clock is moved by hand this is time in a test:
 * everything else, from what a submit answers to how long a job waits after its third failure, is
 * the code that runs in a scheduler.
 *
 * <p>Steps must not be asked for by two threads at once. The engine's doors may be used by any
 * thread; an answer is there when they return, unless another thread is in the same door. The store
 * must always answer: nothing is tried again.
 */
public final class Stepper {

  private final LongSupplier millis;
  private final ScheduleStore schedules;
  private final ScanningEngine engine;

  /** The queue of which one job may go out, while its scanner has a turn. */
  private @Nullable QueueName served;

  private @Nullable Delivery delivery;

  /**
   * @param millis the store's time, epoch ms
   * @param random what jitter is drawn from
   */
  public Stepper(
      JobStore jobs,
      QueueDirectory queues,
      ScheduleStore schedules,
      CalendarStore calendars,
      EngineOptions options,
      LongSupplier millis,
      RandomGenerator random) {
    this.millis = millis;
    this.schedules = schedules;
    Alone alone = new Alone();
    this.engine =
        new ScanningEngine(
            new Store(
                jobs,
                queues,
                listener -> () -> {},
                alone,
                alone,
                alone,
                new StoreCalls(),
                schedules,
                calendars),
            options,
            new OneByOne(),
            new Failures(),
            Threads::ofCaller,
            () -> random,
            this::ticks);
  }

  private long ticks() {
    return TimeUnit.MILLISECONDS.toNanos(1) * millis.getAsLong();
  }

  /** The doors of the engine; it cannot be started. */
  public Engine engine() {
    return engine;
  }

  /**
   * Takes all jobs back whose lease ran out, ends those that could not start in time, and hands out
   * the earliest job that is due; at the same due time, in the order of queues and ids. Its lease
   * is not kept alive: unless it is ended, the job comes back once that ran out.
   *
   * @param from the queues from which jobs are handed out
   * @return empty if nothing is due that may go out
   */
  public Optional<Delivery> step(Predicate<QueueName> from) {
    fireSchedules();
    List<BucketWorker> all = workers();
    // Nothing may go out yet: the scanners only count, and take back, so many leases a turn.
    for (BucketWorker worker : all) {
      do {
        worker.claimer.lapse();
      } while (worker.claimer.lapses());
      do {
        turn(worker);
      } while (worker.scanner.nextDeadline() <= millis.getAsLong());
    }
    List<BucketWorker> due =
        all.stream()
            .filter(worker -> from.test(worker.bucket.queue()))
            .sorted(Comparator.comparingLong(worker -> worker.scanner.nextDue()))
            .toList();
    for (BucketWorker worker : due) {
      served = worker.bucket.queue();
      while (delivery == null && worker.scanner.nextDue() <= millis.getAsLong()) {
        turn(worker);
      }
      served = null;
      if (delivery != null) {
        Delivery found = delivery;
        delivery = null;
        return Optional.of(found);
      }
    }
    return Optional.empty();
  }

  private void fireSchedules() {
    while (engine.driver().turn(this::ticks) == 0) {
      // There may be more.
    }
  }

  private void turn(BucketWorker worker) {
    worker.signal.ask();
    var unused = worker.scanner.turn(ticks());
  }

  /**
   * When there is next something to do, provided that the last {@link #step} has left nothing to
   * do.
   *
   * @param from the queues from which jobs are handed out
   * @return epoch ms of a due time or of the end of a lease; empty if nothing waits
   */
  public OptionalLong next(Predicate<QueueName> from) {
    Long look = schedules.due(0, Duration.ZERO).next();
    LongStream planned = look == null ? LongStream.empty() : LongStream.of(look);
    LongStream jobs =
        workers().stream()
            .mapToLong(
                worker ->
                    Math.min(
                        from.test(worker.bucket.queue())
                            ? worker.scanner.nextDue()
                            : WakePlan.NEVER,
                        worker.scanner.nextDeadline()))
            .filter(next -> next != WakePlan.NEVER);
    return LongStream.concat(planned, jobs).min();
  }

  private List<BucketWorker> workers() {
    return engine.queues().keySet().stream()
        .sorted()
        .flatMap(queue -> engine.seen().find(queue).stream())
        .flatMap(queue -> queue.workers.stream())
        .toList();
  }

  /** Takes one job of the queue whose scanner has a turn. */
  private final class OneByOne implements Dispatcher {

    @Override
    public int capacity(QueueName queue) {
      return queue.equals(served) && delivery == null ? 1 : 0;
    }

    @Override
    public void dispatch(QueueName queue, List<Delivery> deliveries) {
      delivery = deliveries.get(0);
    }
  }

  private static final class Failures implements ScanSignals {

    @Override
    public void failed(Bucket bucket) {
      throw new IllegalStateException("a step failed, and nothing is tried again; see the log");
    }
  }

  /** Nobody else works on the store, and it loses nothing. */
  private static final class Alone implements Members, StoreInspector, EpochMarker {

    @Override
    public Others beat(Member member, Duration life) {
      return new Others(List.of(), null);
    }

    @Override
    public void leave(Member member) {}

    @Override
    public void offer(Bucket bucket, long due) {}

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
