package io.punctual;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method of a bean that runs the jobs of one task type: what a {@link TaskWorker} is, with
 * a payload of its own type.
 *
 * <pre>{@code
 * @DelayedTask("order.close")
 * void close(CloseOrder order, TaskContext context) { ... }
 * }</pre>
 *
 * <p>The method is not private, returns nothing or a {@link java.util.concurrent.CompletionStage},
 * and has, in any order, at most one of each of these parameters:
 *
 * <ul>
 *   <li>the payload: of type {@link String} it is the text as submitted, of any other type it is
 *       read from the text as JSON, by the application's own Jackson mapper. A text that is no such
 *       JSON makes the job a dead letter, with the reason, and is not tried again;
 *   <li>a {@link TaskContext};
 * </ul>
 *
 * and any number of texts with {@link TaskHeader}. Which parameter is which is decided when the
 * application starts: a method that does not fit, or a task type that is taken twice, stops the
 * start with an explanation.
 *
 * <p>Every text may be, or have, a placeholder such as {@code ${shop.close-type}}. What properties
 * set for the task type wins over what stands here.
 *
 * <p>Returning means done; where a stage is returned, its completion does, as in {@link
 * TaskWorker#invokeAsync}. {@link RejectTaskException}, {@link RetryLaterException} and every other
 * exception mean what they mean in {@link TaskWorker#invoke(String)}; the method must bear being
 * repeated, and is called from many threads at once.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface DelayedTask {

  /** The task type, where nothing else is said: short for {@link #type}. */
  String value() default "";

  /** The task type: 1 to 128 characters of {@code [A-Za-z0-9._:-]}. */
  String type() default "";

  /**
   * How many jobs of this type one instance runs at once, 1 to 10,000; empty for as many as the
   * instance runs at all.
   */
  String concurrency() default "";

  /**
   * How long one attempt may take, for jobs that this application submits without a time of their
   * own: {@code 30s}, {@code 10m}, 1 s to 24 h; empty for 60 s.
   */
  String timeToRun() default "";

  /**
   * What happens after a failed attempt, for jobs that this application submits without a policy of
   * their own: a text as {@link RetryPolicy#parse} reads it; empty for the queue's.
   */
  String retry() default "";

  /**
   * Where it is remembered which jobs are done, so that one that is delivered again does not take
   * effect again: {@code database}, in the transaction of the method's own work, or {@code redis};
   * {@code off} or empty for nowhere.
   */
  String once() default "";

  /**
   * When the method runs by itself: a cron expression of 5 or 6 fields, or a macro such as {@code
   * @daily}; empty for never. When the application starts, it puts a recurring schedule with the
   * task type as its id. The same again changes nothing, so a deploy moves no next run and resumes
   * nothing that an operator paused. The jobs have no payload. A schedule whose annotation is gone
   * stays until it is deleted.
   */
  String cron() default "";

  /** The zone whose local times {@link #cron} names, such as {@code Europe/Berlin}. */
  String zone() default "UTC";
}
