package io.punctual;

import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * The attempt that a worker is making: which job it is, how long it may take, and ways to end it.
 * Valid while the attempt runs: until the worker has returned or, where it returned a future, until
 * that has completed. Safe for use by many threads.
 */
public interface TaskContext {

  /** The job's id within its task type: the same on every attempt. */
  String taskId();

  /** The job's task type. */
  String taskType();

  /**
   * The scheduler's name for this accepted job: the same on every attempt and delivery, and another
   * one when the id is used again for another job after this one has ended. Together with task type
   * and id it is the key of what must happen once.
   */
  String incarnation();

  /** Which attempt this is, counted from 1. */
  int attempt();

  /** When the job was due at first, by the scheduler's clock: the same on every attempt. */
  Instant dueAt();

  /**
   * Returns how late this attempt began, by this machine's clock; never negative. It counts from
   * the due time of this attempt: that of the job, or that of the retry. If the job was accepted
   * later, or the hours of its queue began later, it counts from then. The API's {@code lateMs}
   * counts in the same way. To include the earlier attempts, compare {@link #dueAt} with the
   * current time.
   */
  Duration lateness();

  /**
   * When the time-to-run of this attempt is over, by this machine's clock. Its thread is then
   * interrupted, or its future cancelled, and the job is delivered again unless the worker still
   * ends well.
   */
  Instant deadline();

  /**
   * Asks for more time: the {@link #deadline} is that much later than now, unless it is later
   * already. May be called any number of times. The time-to-run of further attempts stays as it is.
   *
   * <p>Blocks until that is certain, which is a call to the scheduler or the store. It also tells
   * whether the job is still this attempt's; for long work it is worth asking before what should
   * not be done twice.
   *
   * @param timeToRun from now; {@link Limits#MIN_TIME_TO_RUN} to {@link Limits#MAX_TIME_TO_RUN}
   * @throws IllegalArgumentException if it is out of range
   * @throws LeaseLostException if the job is not this attempt's any more; {@link #isCancelled} is
   *     true then
   * @throws SchedulerUnavailableException if nobody answered: the deadline may have moved or not,
   *     and the call may be repeated
   */
  void extend(Duration timeToRun);

  /**
   * Says that the job goes on behind this attempt's call, and is finished by whoever has the
   * handle: another process, a person, the answer of a partner. The worker then returns; from there
   * on the job takes no place here, and no instance and no scheduler needs to live for it. It is
   * ended by {@link TaskSubmitService#finish}, {@link TaskSubmitService#fail} or {@link
   * TaskSubmitService#reject} from anywhere in the application, also before the worker has
   * returned. Where nobody does so in time, the attempt counts as one whose time-to-run was over,
   * and the job is delivered again.
   *
   * <p>What the worker throws after this decides all the same, and the handle is void: hand it out
   * last, or bear that. Where the process dies before the worker has returned, the job is delivered
   * again: at once if a scheduler had called it; in pull and plugin mode when {@code within} is
   * over. The time-to-run bounds the worker as before.
   *
   * <p>Blocks until the scheduler or the store knows. May be called again for more time; the handle
   * is the same.
   *
   * @param within from now; {@link Limits#MIN_TIME_TO_RUN} to {@link Limits#MAX_DEFERRAL}. {@link
   *     TaskSubmitService#extend} makes it more
   * @return at most 1,024 characters of {@code [A-Za-z0-9_-]}, to be kept as they are. Whoever has
   *     it and may call the scheduler can end the job
   * @throws IllegalArgumentException if the time is out of range
   * @throws LeaseLostException if the job is not this attempt's any more; {@link #isCancelled} is
   *     true then
   * @throws SchedulerUnavailableException if nobody answered; the call may be repeated
   */
  String defer(Duration within);

  /** The headers of the job, as submitted. */
  Map<String, String> headers();

  /**
   * Whether nobody waits for this attempt any more: its time-to-run is over, the job is not its own
   * any more as far as this application knows, the job was cancelled with {@link
   * TaskSubmitService.Running#INTERRUPT}, or the process stops. Once true it stays so. Check it in
   * loops that do not block: a thread that blocks is interrupted, and a future is cancelled.
   *
   * <p>A worker that stops because its job was cancelled may throw anything: the job is not retried
   * and becomes no dead letter. If it returns normally, the job is done.
   */
  boolean isCancelled();

  /**
   * Runs an action once when {@link #isCancelled} becomes true, before the thread is interrupted or
   * the future cancelled; at once if it is so already. For what heeds neither, such as a statement
   * of JDBC.
   *
   * <p>It is called on another thread, and never after the attempt has ended. It must be quick, and
   * must not wait for the worker. What it throws is logged.
   */
  void onCancel(Runnable action);

  /**
   * Ends the attempt: it failed, try again after that time instead of the one in the retry policy.
   * Always throws; to be written as {@code throw context.retryAfter(...)}, so that the compiler
   * knows.
   *
   * @param delay from now; zero or more, at most {@link Limits#MAX_RETRY_DELAY}
   * @throws RetryLaterException always
   */
  default RetryLaterException retryAfter(Duration delay) {
    throw new RetryLaterException(delay, "the worker asked for another attempt after " + delay);
  }

  /**
   * Ends the job: it can never succeed, keep it as a dead letter. Always throws; to be written as
   * {@code throw context.reject(...)}, so that the compiler knows.
   *
   * @param reason why, in words for whoever looks at the dead letter
   * @throws RejectTaskException always
   */
  default RejectTaskException reject(String reason) {
    throw new RejectTaskException(reason);
  }
}
