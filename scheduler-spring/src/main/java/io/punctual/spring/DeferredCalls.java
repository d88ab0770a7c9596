package io.punctual.spring;

import io.punctual.BatchItem;
import io.punctual.DelayQueueJob;
import io.punctual.JobScheduler;
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

    /**
     * A call was made.
     *
     * @param index of the call
     * @param error null where it succeeded
     */
    void made(int index, @Nullable Throwable error);
  }

  /** Makes all calls; what fails is told, and never thrown. */
  public static void make(
      JobScheduler scheduler, List<? extends DeferredCall> calls, Results results) {
    List<DelayQueueJob> group = new ArrayList<>();
    int characters = 0;
    for (int i = 0; i < calls.size(); i++) {
      if (calls.get(i) instanceof DeferredCall.Send send) {
        DelayQueueJob job = send.job();
        if (group.size() == MAX_JOBS || characters + job.params().length() > MAX_CHARACTERS) {
          sendAll(scheduler, group, i - group.size(), results);
          group.clear();
          characters = 0;
        }
        group.add(job);
        characters += job.params().length();
      } else {
        sendAll(scheduler, group, i - group.size(), results);
        group.clear();
        characters = 0;
        if (results.goesOn()) {
          results.made(i, make(scheduler, calls.get(i)));
        }
      }
    }
    sendAll(scheduler, group, calls.size() - group.size(), results);
  }

  private static @Nullable Throwable make(JobScheduler scheduler, DeferredCall call) {
    try {
      call.make(scheduler);
      return null;
    } catch (RuntimeException | Error e) {
      return e;
    }
  }

  private static void sendAll(
      JobScheduler scheduler, List<DelayQueueJob> group, int first, Results results) {
    if (group.isEmpty() || !results.goesOn()) {
      return;
    } else if (group.size() == 1) {
      results.made(first, make(scheduler, new DeferredCall.Send(group.get(0))));
      return;
    }
    List<BatchItem> items;
    try {
      items = scheduler.submitAll(List.copyOf(group));
    } catch (RuntimeException | Error e) {
      for (int i = 0; i < group.size(); i++) {
        results.made(first + i, e);
      }
      return;
    }
    for (int i = 0; i < group.size(); i++) {
      results.made(first + i, items.get(i).error());
    }
  }
}
