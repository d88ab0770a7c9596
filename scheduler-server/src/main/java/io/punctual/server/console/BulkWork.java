package io.punctual.server.console;

import io.punctual.server.api.ApiCalls;
import io.punctual.server.security.Caller;
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
    private final Map<String, Object> fields;
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
        Map<String, Object> fields,
        int perSecond,
        String operator,
        Instant begun) {
      this.action = action;
      this.fields = new LinkedHashMap<>(fields);
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

    public Map<String, Object> getFields() {
      return fields;
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
   * @param fields what the API takes, without limit and cursor
   * @param perSecond most jobs a second; 0 for as fast as it goes
   */
  Work begin(ApiCalls.Bulk action, Map<String, Object> fields, int perSecond) {
    Work work = new Work(action, fields, perSecond, Caller.current().name(), clock.instant());
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
    int page = work.perSecond == 0 ? PAGE : Math.min(PAGE, work.perSecond);
    String cursor = null;
    try {
      do {
        if (work.stop.getCount() == 0) {
          work.ends(State.STOPPED, clock.instant(), null);
          return;
        }
        Map<String, Object> fields = new LinkedHashMap<>(work.fields);
        fields.put("limit", page);
        if (cursor != null) {
          fields.put("cursor", cursor);
        }
        ApiCalls.Outcomes answer = calls.many(work.action, fields);
        work.add(answer);
        cursor = answer.nextCursor();
        if (cursor != null && work.perSecond > 0) {
          long pause = 1_000L * answer.matched() / work.perSecond;
          var unused = work.stop.await(pause, TimeUnit.MILLISECONDS);
        }
      } while (cursor != null);
      work.ends(State.DONE, clock.instant(), null);
    } catch (InterruptedException e) {
      work.ends(State.STOPPED, clock.instant(), "the scheduler ended");
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      log.warn("Work on many jobs ({} {}) failed", work.action, work.fields, e);
      work.ends(State.FAILED, clock.instant(), e.getMessage());
    }
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
