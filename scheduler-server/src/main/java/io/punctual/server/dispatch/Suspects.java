package io.punctual.server.dispatch;

import io.punctual.core.Delivery;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.QueueName;
import io.punctual.server.registry.WorkerInstance;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends jobs that may have ended their worker's process, one at a time to an instance.
 *
 * <p>A connection that breaks once proves nothing against a job: processes are killed. A job whose
 * connection broke a second time waits here until it is alone at an instance, so that it harms no
 * other job if it is the cause, and counts an attempt if it is. To that end one instance of an
 * application at a time gets no other jobs. Both are bounded: a job that is not alone in time goes
 * with others, and one that has run for a while without harm is a job like any other.
 */
final class Suspects {

  /** So often a job's connection must have broken. */
  static final int TIMES = 2;

  /** How long a job waits to be alone. */
  static final Duration PATIENCE = Duration.ofSeconds(15);

  /** How long an instance gets no other jobs, and how long it then gets them at least. */
  static final Duration HOLD = Duration.ofSeconds(30);

  private static final Logger log = LoggerFactory.getLogger(Suspects.class);
  private static final int MOST_WAITING = 1_000;
  private static final Duration LATER = Duration.ofSeconds(5);
  private static final long ASK_AGAIN = Duration.ofMillis(250).toNanos();

  private record Waiting(Delivery delivery, long since) {}

  /**
   * A suspect that goes to an instance now.
   *
   * @param alone whether no other job of this scheduler is there
   * @param since when it began to wait
   */
  record Sent(InFlight inFlight, boolean alone, long since) {}

  /** An instance with its load when it was looked at. */
  private record Place(WorkerInstance instance, double load) {
    boolean isIdle() {
      return load == 0;
    }

    boolean isFull() {
      return load >= 1;
    }
  }

  /** Guarded by itself. */
  private static final class Application {
    final Deque<Waiting> waiting = new ArrayDeque<>();
    @Nullable WorkerInstance held;
    long heldSince;
    // Of the only instance there is: until then it gets other jobs.
    long restsUntil;
    // By instance: until then another scheduler is taken to have a suspect there.
    final Map<String, Long> takenElsewhere = new HashMap<>();
    // Whether the last look failed.
    volatile boolean failing;

    void add(Waiting one, @Nullable WorkerInstance taken, long now) {
      if (taken == null) {
        waiting.addLast(one);
      } else {
        waiting.addFirst(one);
        takenElsewhere.put(taken.id(), now + ASK_AGAIN);
      }
    }
  }

  private final InFlights inFlights;
  private final InstanceTracker tracker;
  private final Function<QueueName, List<WorkerInstance>> instances;
  private final Consumer<Sent> send;
  private final Consumer<String> released;
  private final LongSupplier nanoTime;
  private final Map<String, Application> applications = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /**
   * @param instances those that run the jobs of a queue now
   * @param send takes over a job that is booked in; returns at once, and throws nothing
   * @param released told the application of which an instance gets other jobs again
   */
  Suspects(
      InFlights inFlights,
      Function<QueueName, List<WorkerInstance>> instances,
      Consumer<Sent> send,
      Consumer<String> released,
      LongSupplier nanoTime) {
    this.inFlights = inFlights;
    this.tracker = inFlights.tracker();
    this.instances = instances;
    this.send = send;
    this.released = released;
    this.nanoTime = nanoTime;
  }

  /** Whether the job may be what ends its worker's process. */
  static boolean isSuspect(Delivery delivery) {
    return delivery.travelsAlone() && delivery.tries().unknown() >= TIMES;
  }

  /** Whether a job is to be sent by {@link #add}. */
  boolean concerns(Delivery delivery) {
    return isSuspect(delivery)
        // It took too long, here, and ended nothing.
        && inFlights.affinity().lastEnd(delivery.incarnation()) != RepeatCause.TIME_OVER;
  }

  /** Sends a job as soon as it is alone at an instance, and in bounded time in any case. */
  void add(Delivery delivery) {
    add(new Waiting(delivery, nanoTime.getAsLong()), null);
  }

  /** Another scheduler has a suspect at the instance, so that this one was not sent. */
  void takenElsewhere(Sent suspect) {
    InFlight one = suspect.inFlight();
    if (one.withdraw()) {
      add(new Waiting(one.delivery(), suspect.since()), one.instance());
    }
  }

  private void add(Waiting one, @Nullable WorkerInstance taken) {
    Delivery delivery = one.delivery();
    String name = delivery.queue().application();
    boolean[] added = {false};
    // Within the map's own lock: an application for which a job waits is never forgotten.
    Application application =
        applications.compute(
            name,
            (unused, known) -> {
              Application some = known == null ? new Application() : known;
              synchronized (some) {
                added[0] = !closed && some.waiting.size() < MOST_WAITING;
                if (added[0]) {
                  some.add(one, taken, nanoTime.getAsLong());
                }
              }
              return some;
            });
    if (added[0]) {
      look(name, application);
    } else {
      giveBack(delivery);
    }
  }

  private static void giveBack(Delivery delivery) {
    var unused =
        delivery.undeliverable(
            new ErrorNote(
                "", "connections broke twice while it ran: it waits to be alone at an instance"),
            LATER);
  }

  /** Looks whether jobs that wait can go now. To be called often; throws nothing. */
  void look() {
    applications.forEach(this::look);
  }

  private void look(String name, Application application) {
    List<Sent> going = new ArrayList<>();
    try {
      boolean free = look(application, going);
      if (free) {
        released.accept(name);
      }
      application.failing = false;
    } catch (Throwable e) {
      // Also an Error: what waits stays, and is looked at again.
      if (!application.failing) {
        log.error("Checking suspect jobs of {} failed; they wait and are checked again", name, e);
      }
      application.failing = true;
    } finally {
      going.forEach(send);
    }
  }

  /**
   * Books in what can go now.
   *
   * @param going gets it
   * @return whether an instance gets other jobs again
   */
  private boolean look(Application application, List<Sent> going) {
    boolean free = false;
    synchronized (application) {
      long now = nanoTime.getAsLong();
      if (application.held != null && isOver(application, now)) {
        letGo(application, now);
        free = true;
      }
      application.takenElsewhere.values().removeIf(until -> now - until >= 0);
      Iterator<Waiting> all = application.waiting.iterator();
      while (all.hasNext()) {
        Waiting one = all.next();
        if (!one.delivery().leaseHeld()) {
          all.remove();
          var unused = one.delivery().release();
          continue;
        }
        Place place = place(application, one, now);
        if (place != null) {
          InFlight opened = inFlights.open(one.delivery(), place.instance());
          all.remove();
          going.add(new Sent(opened, place.isIdle(), one.since()));
        } else if (now - one.since() >= PATIENCE.toNanos()) {
          // Each instance has one already. Another scheduler may have it until there is room.
          all.remove();
          giveBack(one.delivery());
        }
      }
      if (application.held != null
          && application.waiting.isEmpty()
          && !tracker.hasSuspect(application.held, HOLD)) {
        letGo(application, now);
        free = true;
      }
    }
    return free;
  }

  private boolean isOver(Application application, long now) {
    return now - application.heldSince >= HOLD.toNanos();
  }

  private void letGo(Application application, long now) {
    if (application.held != null) {
      tracker.hold(application.held, false);
      application.held = null;
      application.restsUntil = now + (now - application.heldSince);
    }
  }

  /** The place to which the job goes now; null if it waits. */
  private @Nullable Place place(Application application, Waiting one, long now) {
    QueueName queue = one.delivery().queue();
    List<WorkerInstance> all = tracker.candidates(instances.apply(queue));
    List<WorkerInstance> reached =
        all.stream().filter(instance -> tracker.takes(instance, queue.taskType())).toList();
    boolean waited = now - one.since() >= PATIENCE.toNanos();
    InstanceAffinity.Wish wish = inFlights.affinity().wish(one.delivery().incarnation());
    List<WorkerInstance> wanted =
        reached.stream().filter(instance -> !instance.id().equals(wish.unwanted())).toList();
    // The one that lost its answers may be idle because it loses all: others are waited for.
    List<WorkerInstance> some = waited || wanted.isEmpty() ? reached : wanted;
    Place best =
        some.stream()
            .filter(instance -> !tracker.hasSuspect(instance, HOLD))
            .filter(instance -> !application.takenElsewhere.containsKey(instance.id()))
            .map(instance -> new Place(instance, tracker.load(instance)))
            .min(order(wish))
            .orElse(null);
    if (best == null) {
      return null;
    }
    if (!best.isIdle() && waited && !best.isFull()) {
      // With others; then it counts no attempt.
      return best;
    }
    hold(application, best.instance(), reached.size(), now);
    return best.isIdle() ? best : null;
  }

  private static Comparator<Place> order(InstanceAffinity.Wish wish) {
    return Comparator.<Place, Boolean>comparing(place -> !place.isIdle())
        .thenComparing(Place::isFull)
        .thenComparing(place -> place.instance().id().equals(wish.unwanted()))
        .thenComparingDouble(Place::load)
        .thenComparing(place -> !place.instance().id().equals(wish.preferred()));
  }

  /** Keeps other jobs from an instance: from one at a time, and at most half of the time. */
  private void hold(Application application, WorkerInstance instance, int reached, long now) {
    if (application.held == null && (reached > 1 || now - application.restsUntil >= 0)) {
      tracker.hold(instance, true);
      application.held = instance;
      application.heldSince = now;
    }
  }

  /** Forgets applications that have none waiting. */
  void tidy() {
    for (String name : applications.keySet()) {
      applications.computeIfPresent(
          name,
          (unused, application) -> {
            synchronized (application) {
              return application.waiting.isEmpty() && application.held == null ? null : application;
            }
          });
    }
  }

  /** Jobs that wait. */
  int waiting() {
    int all = 0;
    for (Application application : applications.values()) {
      synchronized (application) {
        all += application.waiting.size();
      }
    }
    return all;
  }

  /** Applications that are known here. */
  int size() {
    return applications.size();
  }

  /** Gives back, at no attempt, what waits, and takes nothing more. */
  void close() {
    closed = true;
    for (Application application : applications.values()) {
      synchronized (application) {
        application.waiting.forEach(
            one -> {
              var unused = one.delivery().release();
            });
        application.waiting.clear();
      }
    }
  }
}
