package io.punctual.server.console;

import io.punctual.core.job.Due;
import io.punctual.core.store.StoreException;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.jobs.BulkOperations.Order;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.JobIds;
import io.punctual.server.problem.Failures;
import io.punctual.server.security.Caller;
import io.punctual.server.text.Printable;
import io.punctual.server.text.PrintableException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.security.concurrent.DelegatingSecurityContextRunnable;
import org.springframework.stereotype.Component;

/**
 * Bulk operations of the console: page by page, at the speed that the operator chose, until they
 * are done or stopped. They run in this scheduler and end with it.
 */
@Component
class BulkWork implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(BulkWork.class);
  private static final int KEPT = 50;
  private static final int RUNNING = 4;
  private static final int PAGE = 200;
  private static final int MAX_NAMED = 3;

  private final BulkOperations bulk;
  private final InstantSource clock;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          RUNNING, Thread.ofPlatform().daemon().name("punctual-bulk-", 0).factory());
  private final Deque<Work> all = new ArrayDeque<>();

  @Autowired
  BulkWork(BulkOperations bulk) {
    this(bulk, InstantSource.system());
  }

  BulkWork(BulkOperations bulk, InstantSource clock) {
    this.bulk = bulk;
    this.clock = clock;
  }

  /** How far it is. */
  enum State {
    WAITING,
    RUNNING,
    DONE,
    STOPPED,
    FAILED
  }

  /** One operation. */
  static final class Work {

    private final String id = UUID.randomUUID().toString();
    private final List<Order> orders;
    private final int perSecond;
    private final String operator;
    private final Instant begun;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Map<String, Integer> outcomes = new TreeMap<>();
    private State state = State.WAITING;
    private int matched;
    private @Nullable Instant ended;
    private @Nullable String error;

    private Work(List<Order> orders, int perSecond, String operator, Instant begun) {
      this.orders = List.copyOf(orders);
      this.perSecond = perSecond;
      this.operator = operator;
      this.begun = begun;
    }

    public String getId() {
      return id;
    }

    public BulkOperations.Action getAction() {
      return orders.get(0).action();
    }

    /** The parts of each order, by name. */
    public List<Map<String, Object>> getCalls() {
      return orders.stream().map(BulkWork::parts).toList();
    }

    /** The queues and tags, as far as a line holds them. */
    public String getAbout() {
      List<String> all = orders.stream().map(BulkWork::about).distinct().toList();
      return String.join(", ", all.subList(0, Math.min(MAX_NAMED, all.size())))
          + (all.size() > MAX_NAMED ? ", …" : "");
    }

    /** Jobs a second; 0 for as fast as it goes. */
    public int getPerSecond() {
      return perSecond;
    }

    public String getOperator() {
      return operator;
    }

    public Instant getBegun() {
      return begun;
    }

    public synchronized State getState() {
      return state;
    }

    public synchronized boolean isOver() {
      return state != State.WAITING && state != State.RUNNING;
    }

    public synchronized int getMatched() {
      return matched;
    }

    public synchronized Map<String, Integer> getOutcomes() {
      return Map.copyOf(outcomes);
    }

    public synchronized @Nullable Instant getEnded() {
      return ended;
    }

    public synchronized @Nullable String getError() {
      return error;
    }

    private synchronized void begins() {
      state = State.RUNNING;
    }

    private synchronized void add(BulkOperations.Page page) {
      matched += page.items().size();
      page.outcomes().forEach((name, count) -> outcomes.merge(name, count, Integer::sum));
    }

    private synchronized void ends(State how, Instant when, @Nullable String why) {
      state = how;
      ended = when;
      error = why;
    }
  }

  private static String about(Order order) {
    return switch (order.jobs()) {
      case JobFilter filter ->
          filter.application()
              + (filter.taskType() == null ? "" : "/" + filter.taskType())
              + (filter.tag() == null ? "" : " tag:" + filter.tag());
      case JobIds ids -> ids.queue().toString();
    };
  }

  private static Map<String, Object> parts(Order order) {
    Map<String, Object> parts = new LinkedHashMap<>();
    switch (order.jobs()) {
      case JobFilter filter -> {
        parts.put("application", filter.application());
        put(parts, "taskType", filter.taskType());
        put(parts, "state", filter.state() == null ? null : filter.state().text());
        put(parts, "tag", filter.tag());
        put(parts, "from", moment(filter.from()));
        put(parts, "until", moment(filter.until()));
        put(parts, "error", filter.error());
      }
      case JobIds ids -> {
        parts.put("application", ids.queue().application());
        parts.put("taskType", ids.queue().taskType());
        parts.put("taskIds", ids.ids());
      }
    }
    Due due = order.due();
    if (due != null && due.relative()) {
      parts.put("delay", Duration.ofMillis(due.millis()));
    } else if (due != null) {
      put(parts, "dueAt", moment(due.millis()));
    }
    return parts;
  }

  private static void put(Map<String, Object> parts, String name, @Nullable Object value) {
    if (value != null) {
      parts.put(name, value);
    }
  }

  private static @Nullable String moment(@Nullable Long millis) {
    return millis == null ? null : Instant.ofEpochMilli(millis).toString();
  }

  /**
   * Begins an operation.
   *
   * @param orders one after the other, at least one, all of the same action
   * @param perSecond most jobs a second; 0 for no limit
   */
  Work begin(List<Order> orders, int perSecond) {
    Work work = new Work(orders, perSecond, Caller.current().name(), clock.instant());
    synchronized (all) {
      all.addFirst(work);
      while (all.size() > KEPT && all.getLast().isOver()) {
        all.removeLast();
      }
    }
    // The audit names the operator.
    threads.execute(new DelegatingSecurityContextRunnable(() -> run(work)));
    return work;
  }

  private void run(Work work) {
    work.begins();
    try {
      int size = work.perSecond == 0 ? PAGE : Math.min(PAGE, work.perSecond);
      Deque<Order> left = parts(work.orders, size);
      String cursor = null;
      long pause = 0;
      while (!left.isEmpty()) {
        if (work.stop.await(pause, TimeUnit.MILLISECONDS)) {
          work.ends(State.STOPPED, clock.instant(), null);
          return;
        }
        BulkOperations.Page page = bulk.perform(left.getFirst(), size, cursor);
        work.add(page);
        StoreException failure = page.failure();
        if (failure != null) {
          throw failure;
        }
        cursor = page.next();
        if (cursor == null) {
          left.removeFirst();
          fix(left, page.dueAt());
        }
        pause = work.perSecond == 0 ? 0 : 1_000L * page.items().size() / work.perSecond;
      }
      work.ends(State.DONE, clock.instant(), null);
    } catch (InterruptedException e) {
      work.ends(State.STOPPED, clock.instant(), "the scheduler ended");
      Thread.currentThread().interrupt();
    } catch (Throwable e) {
      // Also an Error: an operation that says nothing more would look as if it were under way.
      work.ends(State.FAILED, clock.instant(), text(e));
      log.warn(
          "A bulk operation ({} {}) failed; the audit has what it did",
          work.getAction(),
          Printable.of(work.getCalls().toString()),
          PrintableException.of(e));
    }
  }

  private static String text(Throwable e) {
    return e instanceof RuntimeException known
        ? String.valueOf(Failures.of(known).getMessage())
        : String.valueOf(e.getMessage());
  }

  /** A delay is one instant for the whole operation: the one that its first jobs got. */
  private static void fix(Deque<Order> left, @Nullable Long dueAt) {
    if (dueAt != null) {
      List<Order> fixed =
          left.stream()
              .map(order -> new Order(order.action(), order.jobs(), Due.at(dueAt)))
              .toList();
      left.clear();
      left.addAll(fixed);
    }
  }

  /** The orders, with lists of ids that are no longer than a page. */
  private static Deque<Order> parts(List<Order> orders, int size) {
    Deque<Order> parts = new ArrayDeque<>();
    for (Order order : orders) {
      if (order.jobs() instanceof JobIds named) {
        List<String> ids = named.ids();
        for (int from = 0; from < ids.size(); from += size) {
          List<String> part = ids.subList(from, Math.min(ids.size(), from + size));
          parts.addLast(new Order(order.action(), new JobIds(named.queue(), part), order.due()));
        }
      } else {
        parts.addLast(order);
      }
    }
    return parts;
  }

  /** Ends it after the page that is under way; what is done stays done. */
  void stop(String id) {
    find(id).ifPresent(work -> work.stop.countDown());
  }

  /** The work of that id, as long as it is remembered. */
  Optional<Work> find(String id) {
    synchronized (all) {
      return all.stream().filter(work -> work.id.equals(id)).findFirst();
    }
  }

  /** The last ones, the newest first. */
  List<Work> all() {
    synchronized (all) {
      return List.copyOf(all);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
