package io.punctual.core.runtime;

import io.punctual.core.Dispatcher;
import io.punctual.core.EngineOptions;
import io.punctual.core.RepeatCause;
import io.punctual.core.ScannerHealth;
import io.punctual.core.deliver.InFlight;
import io.punctual.core.deliver.OpenDelivery;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.RandomNames;
import io.punctual.core.membership.Membership;
import io.punctual.core.membership.Owners;
import io.punctual.core.pull.PullQueues;
import io.punctual.core.pull.Puller;
import io.punctual.core.pull.Pulls;
import io.punctual.core.recovery.Contact;
import io.punctual.core.recovery.Outages;
import io.punctual.core.recovery.StoreCallMonitor;
import io.punctual.core.recovery.StoreWatch;
import io.punctual.core.scan.ScanContext;
import io.punctual.core.scan.ScanCount;
import io.punctual.core.scan.ScanPermits;
import io.punctual.core.scan.ScanSignals;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.WakeUps;
import io.punctual.core.submit.Admission;
import io.punctual.core.times.StartTimes;
import io.punctual.core.wake.Capacity;
import io.punctual.core.wake.IdleChecks;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Context;
import io.punctual.core.work.Defects;
import io.punctual.core.work.Threads;
import io.punctual.wire.PunctualVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engine's duties from start to stop. An engine that is started again gets a new one. */
final class Session implements PullQueues {

  private static final Logger log = LoggerFactory.getLogger(Session.class);

  /** How long a stop waits for the store to take the last endings. */
  private static final Duration FLUSH = Duration.ofSeconds(2);

  private static final String VERSION = PunctualVersion.text().replaceAll("[\\s:*]+", "_");

  private enum Phase {
    NEW,
    RUNNING,
    STOPPING,
    CLOSED
  }

  private final String name;
  private final WakeUps wakeUps;
  private final StoreCalls calls;
  private final StoreCallMonitor feed;
  private final Shared shared;
  private final Context context;
  private final Queues queues;
  private final StoreWatch watch;
  private final Membership membership;
  private final Object lifecycle = new Object();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile Phase phase = Phase.NEW;
  private @Nullable AutoCloseable listening;

  Session(
      Store store,
      EngineOptions options,
      Dispatcher dispatcher,
      @Nullable ScanSignals signals,
      Threads threads,
      Supplier<RandomGenerator> random,
      StartTimes times,
      @Nullable LongSupplier steps) {
    long start = System.nanoTime();
    LongSupplier clock = steps != null ? steps : () -> System.nanoTime() - start;
    this.wakeUps = store.wakeUps();
    this.calls = store.calls();
    Defects defects = new Defects();
    this.context = new Context(store.jobs(), options, threads.reportingTo(defects), clock, defects);
    this.name = options.owner() + "/" + RandomNames.incarnation();
    Owners owners = new Owners(name);
    Contact contact = steps != null ? Contact.unbroken() : new Contact(options.lease());
    this.shared =
        new Shared(
            context,
            new ScanContext(
                context,
                dispatcher,
                contact,
                new Pulls(clock),
                new IdleChecks(options.idleChecksPerSecond()),
                new ScanPermits(),
                new ScanCount(),
                store.members(),
                owners,
                signals),
            random,
            new Outages(clock),
            new InFlight(),
            new Capacity(
                dispatcher,
                defects,
                // Steps open one delivery at a time, and nothing ends those that a test loses.
                steps != null ? Long.MAX_VALUE : Capacity.bytesOfHeap(),
                store.jobs()::node),
            times,
            new Admission());
    this.queues = new Queues(store.queues(), shared);
    this.watch = new StoreWatch(store, context, contact, shared.outages(), queues::wakeAll);
    this.membership =
        new Membership(
            store.members(),
            context,
            name,
            VERSION,
            // One that hears nothing owns nothing.
            () -> owners.hears() ? queues.served() : Set.of(),
            owners,
            queues::membersChanged);
    this.feed = new StoreCallMonitor(clock, contact, shared.outages(), queues::ask);
    calls.add(feed);
    pulls()
        .ringsWith(
            queue -> {
              shared.capacity().changed(queue);
              queues.pulled(queue);
            });
  }

  /** Returns the version of each engine of the store, by its name. */
  SortedMap<String, String> members() {
    SortedMap<String, String> members = new TreeMap<>();
    members.put(name, VERSION);
    shared.scan().owners().others().forEach(one -> members.put(one.name(), one.version()));
    return members;
  }

  StoreWatch watch() {
    return watch;
  }

  Shared shared() {
    return shared;
  }

  @Override
  public Pulls pulls() {
    return shared.scan().pulls();
  }

  @Override
  public Optional<List<Puller>> find(QueueName queue) {
    return queues.find(queue).map(found -> found.pullers);
  }

  @Override
  public Optional<List<Puller>> seen(QueueName queue) {
    return Optional.ofNullable(queues.seen(queue)).map(found -> found.pullers);
  }

  Queues queues() {
    return queues;
  }

  /**
   * A job is to be cancelled: its delivery looks at its lease, in case it is one of this engine.
   */
  void cancelling(Bucket bucket, String taskId) {
    QueueWorkers seen = queues.seen(bucket.queue());
    if (seen != null && bucket.index() < seen.workers.size()) {
      seen.workers.get(bucket.index()).keeper.ask(taskId);
    }
  }

  ScannerHealth scanners() {
    ScanCount count = shared.scan().scanners();
    return new ScannerHealth(
        isRunning() ? count.running() : 0,
        isRunning() ? count.ended() : List.of(),
        shared.outages().damaged(),
        context.defects().open());
  }

  /** Lists what is not given back, ended or written; empty when all is at rest. */
  List<String> inUse() {
    List<String> found = new ArrayList<>(shared.capacity().inUse());
    if (shared.scan().looks().inUse() != 0) {
      found.add("looks: " + shared.scan().looks().inUse());
    }
    if (shared.inFlight().count() != 0) {
      found.add("deliveries in flight: " + shared.inFlight().count());
    }
    if (shared.admission().inside() != 0) {
      found.add("admitted submissions: " + shared.admission().inside());
    }
    pulls().waitedFor().forEach(queue -> found.add("pulls that wait for " + queue));
    queues.all().forEach(queue -> queue.workers.forEach(worker -> worker.addInUse(found)));
    return found;
  }

  @Override
  public boolean isRunning() {
    return phase == Phase.RUNNING;
  }

  boolean isClosed() {
    return phase == Phase.CLOSED;
  }

  void start() {
    synchronized (lifecycle) {
      if (phase == Phase.RUNNING) {
        return;
      }
      if (phase != Phase.NEW) {
        throw new IllegalStateException("the engine is being stopped; start it again after that");
      }
      phase = Phase.RUNNING;
      queues.start();
      watch.start();
      listening = wakeUps.listen(new Hints());
      membership.start();
    }
  }

  void stop(Duration patience) {
    boolean running;
    synchronized (lifecycle) {
      running = phase == Phase.RUNNING;
      if (running) {
        phase = Phase.STOPPING;
      }
    }
    try {
      if (running) {
        queues.stop();
        membership.leave();
        pulls().close();
        drain(patience);
      } else if (phase == Phase.STOPPING) {
        // Somebody else's stop is under way.
        var unused = closed.await(patience.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    close();
  }

  private void drain(Duration patience) throws InterruptedException {
    long end = context.now() + patience.toNanos();
    for (QueueWorkers queue : queues.all()) {
      for (BucketWorker worker : queue.workers) {
        worker.loop.join(Duration.ofNanos(end - context.now()));
      }
    }
    for (QueueWorkers queue : queues.all()) {
      queue.workers.forEach(worker -> worker.puller.received().flush());
    }
    if (!shared.inFlight().awaitNone(Duration.ofNanos(end - context.now()))) {
      int left = 0;
      for (QueueWorkers queue : queues.all()) {
        for (BucketWorker worker : queue.workers) {
          for (OpenDelivery delivery : worker.keeper.open()) {
            var unused =
                delivery.unknown(
                    new ErrorNote(
                        context.options().owner(), "the scheduler stopped before the answer came"),
                    false,
                    RepeatCause.SCHEDULER_STOPPED);
            left++;
          }
        }
      }
      log.warn(
          "Deliveries still open after {} at the stop: {}; they will be delivered again",
          patience,
          left);
      if (!shared.inFlight().awaitNone(FLUSH)) {
        log.warn("The store did not take the ends of all deliveries; their leases run out");
      }
    }
  }

  void close() {
    AutoCloseable listener;
    synchronized (lifecycle) {
      if (phase == Phase.CLOSED) {
        return;
      }
      phase = Phase.CLOSED;
      listener = listening;
    }
    queues.stop();
    watch.stop();
    membership.stop();
    pulls().close();
    for (QueueWorkers queue : queues.all()) {
      queue.close();
    }
    shared.inFlight().close();
    context.threads().close();
    calls.remove(feed);
    if (listener != null) {
      try {
        listener.close();
      } catch (Exception e) {
        log.warn("The listening for wake-ups did not end cleanly", e);
      }
    }
    closed.countDown();
  }

  /** What the store tells all engines. */
  private final class Hints implements WakeUps.Listener {

    @Override
    public void newHead(Bucket bucket, long due) {
      raise(bucket, signal -> signal.head(due));
    }

    @Override
    public void offered(Bucket bucket, long due) {
      raise(bucket, signal -> signal.offered(due));
    }

    @Override
    public void cancelling(Bucket bucket, String taskId) {
      Session.this.cancelling(bucket, taskId);
    }

    private void raise(Bucket bucket, Consumer<WakeSignal> what) {
      QueueWorkers seen = queues.seen(bucket.queue());
      if (seen == null) {
        queues.hint();
      } else if (bucket.index() < seen.workers.size()) {
        what.accept(seen.workers.get(bucket.index()).signal);
      }
    }

    @Override
    public void membersChanged() {
      membership.refresh();
    }

    @Override
    public void gap() {
      shared.scan().owners().hears(true);
      membership.refresh();
      queues.wakeAll();
    }

    @Override
    public void lost() {
      Owners owners = shared.scan().owners();
      if (owners.hears()) {
        owners.hears(false);
        membership.refresh();
        queues.membersChanged();
      }
    }
  }
}
