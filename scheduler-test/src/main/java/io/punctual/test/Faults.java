package io.punctual.test;

import io.punctual.SchedulerUnavailableException;
import io.punctual.TaskSubmitService;
import io.punctual.spi.JobScheduler;
import io.punctual.wire.Limits;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What goes wrong once in a while on real machines, done on purpose. Jobs are delivered at least
 * once: with these a test sees that a worker bears it.
 *
 * <p>Faults of attempts hit the next attempt of a type, each once; several of one type hit several
 * attempts, in the order in which they were asked for. All end with {@link #clear} and {@link
 * TestScheduler#reset}.
 */
public final class Faults {

  /** What befalls an attempt. */
  enum Fault {
    ANSWER_LOST,
    DELIVERED_TWICE,
    WORKER_KILLED,
    SCHEDULER_KILLED
  }

  private final Map<String, Deque<Fault>> planned = new HashMap<>();
  private final AtomicInteger lostSubmits = new AtomicInteger();
  private volatile boolean away;
  private volatile @Nullable Thread running;
  private volatile boolean killed;

  Faults() {}

  /**
   * The worker does its work, and the scheduler does not hear of it: the job comes again, after a
   * second at first and up to a minute later on, and counts as attempted.
   */
  public Faults loseAnswer(String taskType) {
    return plan(taskType, Fault.ANSWER_LOST);
  }

  /**
   * The worker is called twice for the same attempt, as when a request is repeated on its way. What
   * counts is how the first call ends; and that the work is done, if the second says so.
   */
  public Faults deliverTwice(String taskType) {
    return plan(taskType, Fault.DELIVERED_TWICE);
  }

  /**
   * The worker's process dies when it has got the job, before the worker's first instruction. The
   * job comes again, as after {@link #loseAnswer}. For a death in the midst of the work: {@link
   * #killWorkerHere}.
   */
  public Faults killWorker(String taskType) {
    return plan(taskType, Fault.WORKER_KILLED);
  }

  /**
   * The scheduler dies while the worker is at work. Another one takes the job over when the lease
   * of ten seconds is over, and delivers it again.
   */
  public Faults killScheduler(String taskType) {
    return plan(taskType, Fault.SCHEDULER_KILLED);
  }

  /**
   * The worker's process dies here: to be called, on the worker's thread, by something that the
   * worker uses, such as a stub of a remote service. What the worker did before is done, what would
   * follow is not; a transaction that is open is rolled back. The job comes again, as after {@link
   * #loseAnswer}.
   *
   * @return never
   * @throws IllegalStateException if no worker runs on this thread
   */
  public Error killWorkerHere() {
    if (running != Thread.currentThread()) {
      throw new IllegalStateException(
          "killWorkerHere() is for what a worker calls while it runs, on the thread that calls"
              + " advance() or runDue(); no worker runs on this one");
    }
    killed = true;
    throw new WorkerKilledException();
  }

  /**
   * No scheduler is there, until {@link #schedulerBack}: each call of the {@link TaskSubmitService}
   * throws {@link SchedulerUnavailableException} and does nothing, and no job runs. In a
   * transaction, it fails behind the commit, and the log says so. The clock can be moved meanwhile.
   */
  public Faults schedulerAway() {
    away = true;
    return this;
  }

  /** A scheduler is there again. What fell due meanwhile runs when the clock is moved next. */
  public Faults schedulerBack() {
    away = false;
    return this;
  }

  /**
   * The next call of the {@link TaskSubmitService} is carried out, and its answer is lost, whatever
   * it says: it throws {@link SchedulerUnavailableException}, as when the connection breaks in that
   * moment. The application should repeat it, with the same task id.
   */
  public Faults loseSubmitAnswer() {
    lostSubmits.incrementAndGet();
    return this;
  }

  /** All that was asked for here is over: faults that did not happen yet will not. */
  public Faults clear() {
    synchronized (planned) {
      planned.clear();
    }
    lostSubmits.set(0);
    away = false;
    return this;
  }

  private Faults plan(String taskType, Fault fault) {
    Limits.requireName("taskType", taskType);
    synchronized (planned) {
      planned.computeIfAbsent(taskType, type -> new ArrayDeque<>()).add(fault);
    }
    return this;
  }

  /** What befalls the next attempt of a type, which happens now; null for nothing. */
  @Nullable Fault next(String taskType) {
    synchronized (planned) {
      Deque<Fault> faults = planned.get(taskType);
      return faults == null ? null : faults.poll();
    }
  }

  boolean isAway() {
    return away;
  }

  /** A worker begins on this thread. */
  void begin() {
    killed = false;
    running = Thread.currentThread();
  }

  /** It has ended; answers whether it was killed, whatever it made of that. */
  boolean endKilled() {
    running = null;
    return killed;
  }

  /** The same scheduler, which answers only where these faults let it. */
  JobScheduler before(JobScheduler scheduler) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          if (method.getName().equals("equals") && method.getParameterCount() == 1) {
            return proxy == arguments[0];
          }
          boolean call = method.getDeclaringClass() != Object.class;
          if (call && away) {
            throw unavailable(
                "no scheduler answered: the test has taken it away (faults().schedulerAway())",
                new ConnectException("Connection refused"));
          }
          boolean lost = call && lostSubmits.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
          Object answer = null;
          try {
            answer = method.invoke(scheduler, arguments);
          } catch (InvocationTargetException e) {
            if (!lost) {
              throw e.getTargetException();
            }
          }
          if (lost) {
            throw unavailable(
                "the answer was lost, as the test asked (faults().loseSubmitAnswer()); repeat the"
                    + " call with the same task id",
                new SocketException("Connection reset"));
          }
          return answer;
        };
    return (JobScheduler)
        Proxy.newProxyInstance(
            JobScheduler.class.getClassLoader(), new Class<?>[] {JobScheduler.class}, handler);
  }

  private static SchedulerUnavailableException unavailable(String message, Exception cause) {
    return new SchedulerUnavailableException(message, Duration.ofSeconds(1), cause);
  }
}
