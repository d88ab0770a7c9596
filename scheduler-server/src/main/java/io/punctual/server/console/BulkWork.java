package io.punctual.server.console;

import io.punctual.server.api.ApiCalls;
import io.punctual.server.registry.PrintableException;
import io.punctual.server.security.Caller;
import io.punctual.server.security.Printable;
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
 * Long work on many jobs: page by page through the API, as fast as was said, until it is done or
 * somebody stops it. It is this scheduler's; what is not done when it ends is simply not done.
 */
@Component
class BulkWork implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(BulkWork.class);
  private static final int KEPT = 50;
  private static final int RUNNING = 4;
  private static final int PAGE = 200;
  private static final int MAX_NAMED = 3;

  private final ApiCalls calls;
  private final InstantSource clock;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          RUNNING, Thread.ofPlatform().daemon().name("punctual-bulk-", 0).factory());
  private final Deque<Work> all = new ArrayDeque<>();

  @Autowired
  BulkWork(ApiCalls calls) {
    this(calls, InstantSource.system());
  }

  BulkWork(ApiCalls calls, InstantSource clock) {
    this.calls = calls;
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

  /** One piece of work. */
  static final class Work {

    private final String id = UUID.randomUUID().toString();
    private final ApiCalls.Bulk action;
    private final List<Map<String, Object>> calls;
    private final int perSecond;
    private final String operator;
    private final Instant begun;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Map<String, Integer> outcomes = new TreeMap<>();
    private State state = State.WAITING;
    private int matched;
    private @Nullable Instant ended;
    private @Nullable String error;

    private Work(
        ApiCalls.Bulk action,
        List<Map<String, Object>> calls,
        int perSecond,
        String operator,
        Instant begun) {
      this.action = action;
      this.calls = List.copyOf(calls);
      this.perSecond = perSecond;
      this.operator = operator;
      this.begun = begun;
    }

    public String getId() {
      return id;
    }

    public ApiCalls.Bulk getAction() {
      return action;
    }

    public List<Map<String, Object>> getCalls() {
      return calls;
    }

    /** Whose jobs, as far as a line holds it. */
    public String getAbout() {
      List<String> all =
          calls.stream()
              .map(
                  call ->
                      call.get("application")
                          + (call.containsKey("taskType") ? "/" + call.get("taskType") : "")
                          + (call.containsKey("tag") ? " tag:" + call.get("tag") : ""))
              .distinct()
              .toList();
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

    private synchronized void add(ApiCalls.Outcomes page) {
      matched += page.matched();
      page.outcomes().forEach((name, count) -> outcomes.merge(name, count, Integer::sum));
    }

    private synchronized void ends(State how, Instant when, @Nullable String why) {
      state = how;
      ended = when;
      error = why;
    }
  }

  /**
   * Begins.
   *
   * @param calls what the API takes, without limit and cursor, one after the other
   * @param perSecond most jobs a second; 0 for as fast as it goes
   */
  Work begin(ApiCalls.Bulk action, List<Map<String, Object>> calls, int perSecond) {
    Work work = new Work(action, calls, perSecond, Caller.current().name(), clock.instant());
    synchronized (all) {
      all.addFirst(work);
      while (all.size() > KEPT && all.getLast().isOver()) {
        all.removeLast();
      }
    }
    // The audit says whose work it is.
    threads.execute(new DelegatingSecurityContextRunnable(() -> run(work)));
    return work;
  }

  private void run(Work work) {
    work.begins();
    Deque<Map<String, Object>> left = pages(work);
    long pause = 0;
    try {
      while (!left.isEmpty()) {
        if (work.stop.await(pause, TimeUnit.MILLISECONDS)) {
          work.ends(State.STOPPED, clock.instant(), null);
          return;
        }
        Map<String, Object> page = left.removeFirst();
        ApiCalls.Outcomes answer = calls.many(work.action, page);
        work.add(answer);
        if (answer.nextCursor() != null) {
          page.put("cursor", answer.nextCursor());
          left.addFirst(page);
        }
        pause = work.perSecond == 0 ? 0 : 1_000L * answer.matched() / work.perSecond;
      }
      work.ends(State.DONE, clock.instant(), null);
    } catch (InterruptedException e) {
      work.ends(State.STOPPED, clock.instant(), "the scheduler ended");
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      log.warn(
          "Work on many jobs ({} {}) failed",
          work.action,
          Printable.of(work.calls.toString()),
          PrintableException.of(e));
      work.ends(State.FAILED, clock.instant(), e.getMessage());
    }
  }

  /** The calls to begin with: those that find jobs go on by their cursors. */
  private static Deque<Map<String, Object>> pages(Work work) {
    int size = work.perSecond == 0 ? PAGE : Math.min(PAGE, work.perSecond);
    Deque<Map<String, Object>> pages = new ArrayDeque<>();
    for (Map<String, Object> call : work.calls) {
      if (call.get("taskIds") instanceof List<?> ids) {
        for (int from = 0; from < ids.size(); from += size) {
          Map<String, Object> page = new LinkedHashMap<>(call);
          page.put("taskIds", ids.subList(from, Math.min(ids.size(), from + size)));
          pages.addLast(page);
        }
      } else {
        Map<String, Object> page = new LinkedHashMap<>(call);
        page.put("limit", size);
        pages.addLast(page);
      }
    }
    return pages;
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
