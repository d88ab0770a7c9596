package io.punctual.spring;

import io.punctual.BatchItem;
import io.punctual.DelayQueueJob;
import io.punctual.JobScheduler;
import io.punctual.PunctualException;
import io.punctual.spring.CommitFailures.Call;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Calls that wait until the transaction of this thread has committed, and are then made in the
 * order in which they were asked for; jobs that were sent one behind the other go out together.
 * What fails then is nobody's exception any more: it is logged as an error and counted.
 */
final class AfterCommit {

  private static final Logger log = LoggerFactory.getLogger(AfterCommit.class);
  // Of one request; far below what schedulers take.
  private static final int MAX_JOBS = 100;
  private static final int MAX_CHARACTERS = 256 * 1024;

  private final JobScheduler scheduler;
  private final CommitFailures failures;

  AfterCommit(JobScheduler scheduler, CommitFailures failures) {
    this.scheduler = scheduler;
    this.failures = failures;
  }

  /**
   * What was asked for.
   *
   * @param target the job, or the tag, for people
   * @param job to be sent; null for another call
   * @param action null for a job that is to be sent
   */
  private record Pending(
      Call call,
      String target,
      @Nullable DelayQueueJob job,
      @Nullable Consumer<JobScheduler> action) {}

  /** Whether this thread is in a transaction whose end will be told. */
  boolean isInTransaction() {
    return TransactionSynchronizationManager.isActualTransactionActive()
        && TransactionSynchronizationManager.isSynchronizationActive();
  }

  void send(DelayQueueJob job) {
    add(new Pending(Call.SEND, job.taskType() + "/" + job.taskId(), job, null));
  }

  void call(Call call, String target, Consumer<JobScheduler> action) {
    add(new Pending(call, target, null, action));
  }

  private void add(Pending pending) {
    for (TransactionSynchronization known :
        TransactionSynchronizationManager.getSynchronizations()) {
      if (known instanceof Calls calls && calls.belongsTo(this)) {
        calls.waiting.add(pending);
        return;
      }
    }
    Calls calls = new Calls();
    calls.waiting.add(pending);
    TransactionSynchronizationManager.registerSynchronization(calls);
  }

  /** The calls of one transaction. */
  private final class Calls implements TransactionSynchronization {

    private final List<Pending> waiting = new ArrayList<>();
    // How many there were when a savepoint was made.
    private final IdentityHashMap<Object, Integer> savepoints = new IdentityHashMap<>();

    private boolean belongsTo(AfterCommit owner) {
      return AfterCommit.this == owner;
    }

    @Override
    public void savepoint(Object savepoint) {
      savepoints.put(savepoint, waiting.size());
    }

    @Override
    public void savepointRollback(Object savepoint) {
      // One from before the first call: all calls came after it.
      int kept = savepoints.getOrDefault(savepoint, 0);
      waiting.subList(Math.min(kept, waiting.size()), waiting.size()).clear();
    }

    // Not afterCommit: what listeners of that ask for would never be called there.
    @Override
    public void afterCompletion(int status) {
      if (status == STATUS_COMMITTED) {
        make(List.copyOf(waiting));
      } else if (status == STATUS_UNKNOWN) {
        waiting.forEach(AfterCommit.this::undecided);
      }
    }
  }

  private void make(List<Pending> all) {
    List<Pending> group = new ArrayList<>();
    int characters = 0;
    for (Pending pending : all) {
      int more = pending.job() == null ? 0 : pending.job().params().length();
      if (pending.job() == null || group.size() == MAX_JOBS || characters + more > MAX_CHARACTERS) {
        sendAll(group);
        group.clear();
        characters = 0;
      }
      if (pending.job() != null) {
        group.add(pending);
        characters += more;
      } else if (pending.action() != null) {
        make(pending, pending.action());
      }
    }
    sendAll(group);
  }

  private void make(Pending pending, Consumer<JobScheduler> action) {
    try {
      action.accept(scheduler);
    } catch (RuntimeException | Error e) {
      failed(pending, e);
    }
  }

  private void sendAll(List<Pending> group) {
    if (group.size() == 1) {
      Pending only = group.get(0);
      make(only, target -> target.submit(job(only)));
    } else if (group.size() > 1) {
      try {
        List<BatchItem> items = scheduler.submitAll(group.stream().map(AfterCommit::job).toList());
        for (int i = 0; i < group.size(); i++) {
          PunctualException error = items.get(i).error();
          if (error != null) {
            failed(group.get(i), error);
          }
        }
      } catch (RuntimeException | Error e) {
        group.forEach(pending -> failed(pending, e));
      }
    }
  }

  private static DelayQueueJob job(Pending pending) {
    DelayQueueJob job = pending.job();
    if (job == null) {
      throw new IllegalArgumentException(pending.call() + " has no job");
    }
    return job;
  }

  private void failed(Pending pending, Throwable error) {
    boolean again = error instanceof PunctualException known && known.isTransient();
    loud(pending)
        .setCause(error)
        .log(
            "The transaction committed, but the {} of {} that was to follow FAILED: {}. {}",
            pending.call(),
            pending.target(),
            error.getMessage(),
            cure(pending, again));
    failures.failed(pending.call(), error);
  }

  private static String cure(Pending pending, boolean again) {
    if (pending.call() != Call.SEND) {
      return again
          ? "Make the call again; it does no harm if it did arrive."
          : "Nothing was changed; mend what it says, then make the call again.";
    }
    return again
        ? "The job may not exist: send it again with this id, which does no harm if it did arrive."
        : "The job does not exist: mend what it says, then send it again.";
  }

  private void undecided(Pending pending) {
    loud(pending)
        .log(
            "Nobody knows whether the transaction committed, so the {} of {} was NOT MADE. Look at"
                + " the data, and if it is there, make the call.",
            pending.call(),
            pending.target());
    failures.failed(pending.call(), null);
  }

  private static LoggingEventBuilder loud(Pending pending) {
    DelayQueueJob job = pending.job();
    LoggingEventBuilder line = log.atError();
    return job == null
        ? line
        : line.addKeyValue("punctual.task.type", job.taskType())
            .addKeyValue("punctual.task.id", job.taskId());
  }
}
