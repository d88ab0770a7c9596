package io.punctual.spring;

import io.punctual.BatchItem;
import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.PunctualException;
import io.punctual.spi.JobScheduler;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes calls in their order; jobs that are sent one behind the other go out together. */
public final class DeferredCalls {

  // Of one request; far below what schedulers take.
  private static final int MAX_JOBS = 100;
  private static final int MAX_CHARACTERS = 256 * 1024;

  private DeferredCalls() {}

  /** Hears of each call. */
  public interface Results {

    /** Whether calls go on; asked before each request. */
    default boolean goesOn() {
      return true;
    }

    /** Whether this call is made; asked when it is its turn. */
    default boolean isWanted(int index) {
      return true;
    }

    /** Whether a job is sent in a request of its own. */
    default boolean goesAlone(int index) {
      return false;
    }

    /**
     * A call was made.
     *
     * @param index of the call
     * @param result what the scheduler answered; null where it failed
     * @param error null where it succeeded
     */
    void made(int index, @Nullable Object result, @Nullable Throwable error);
  }

  /** Makes all calls; what fails is told, and never thrown. */
  public static void make(
      JobScheduler scheduler, List<? extends DeferredCall> calls, Results results) {
    Group group = new Group(scheduler, results);
    for (int i = 0; i < calls.size(); i++) {
      DeferredCall call = calls.get(i);
      if (call instanceof DeferredCall.Send send && !results.goesAlone(i)) {
        group.add(i, send.job());
      } else {
        group.sendAll();
        if (results.goesOn() && results.isWanted(i)) {
          make(scheduler, call, i, results);
        }
      }
    }
    group.sendAll();
  }

  private static void make(JobScheduler scheduler, DeferredCall call, int index, Results results) {
    Object result;
    try {
      result = call.make(scheduler);
    } catch (RuntimeException | Error e) {
      results.made(index, null, e);
      return;
    }
    results.made(index, result, null);
  }

  /** Jobs that go out in one request. */
  private static final class Group {

    private final JobScheduler scheduler;
    private final Results results;
    private final List<Integer> indices = new ArrayList<>();
    private final List<DelayQueueJob> jobs = new ArrayList<>();
    private int characters;

    Group(JobScheduler scheduler, Results results) {
      this.scheduler = scheduler;
      this.results = results;
    }

    void add(int index, DelayQueueJob job) {
      if (jobs.size() == MAX_JOBS || characters + job.params().length() > MAX_CHARACTERS) {
        sendAll();
      }
      if (results.isWanted(index)) {
        indices.add(index);
        jobs.add(job);
        characters += job.params().length();
      }
    }

    void sendAll() {
      if (jobs.size() == 1) {
        sendEach();
      } else if (!jobs.isEmpty() && results.goesOn()) {
        sendTogether();
      }
      indices.clear();
      jobs.clear();
      characters = 0;
    }

    private void sendEach() {
      for (int i = 0; i < jobs.size() && results.goesOn(); i++) {
        if (results.isWanted(indices.get(i))) {
          make(scheduler, new DeferredCall.Send(jobs.get(i)), indices.get(i), results);
        }
      }
    }

    private void sendTogether() {
      List<BatchItem> items;
      try {
        items = scheduler.submitAll(List.copyOf(jobs));
      } catch (RuntimeException | Error e) {
        if (mayBeOfOne(e)) {
          sendEach();
        } else {
          indices.forEach(index -> results.made(index, null, e));
        }
        return;
      }
      for (int i = 0; i < jobs.size(); i++) {
        results.made(indices.get(i), items.get(i).result(), items.get(i).error());
      }
    }
  }

  /**
   * Whether an error of a request with many jobs may be that of one of them: by itself, each gets
   * the answer that is meant for it. What keeps all of them out is not asked for a hundred times.
   */
  private static boolean mayBeOfOne(Throwable error) {
    return error instanceof PunctualException known
        && !known.isTransient()
        && known.code() != ErrorCode.UNAUTHENTICATED
        && known.code() != ErrorCode.FORBIDDEN;
  }
}
