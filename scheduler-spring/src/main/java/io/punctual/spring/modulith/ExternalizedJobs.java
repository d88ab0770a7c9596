package io.punctual.spring.modulith;

import io.punctual.InvalidJobException;
import io.punctual.JobRequest;
import io.punctual.PunctualException;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.EventExternalized;
import org.springframework.modulith.events.RoutingTarget;
import org.springframework.modulith.events.core.ConditionalEventListener;
import org.springframework.modulith.events.support.BrokerRouting;
import org.springframework.transaction.annotation.Propagation;

/**
 * Submits a job for each event of Spring Modulith whose {@code @Externalized} begins with {@code
 * punctual:}, once the event's transaction has committed.
 *
 * <pre>{@code
 * @Externalized("punctual:order.close?delay=30m::#{id}")
 * public record OrderPlaced(String id, long amount) {}
 * }</pre>
 *
 * <p>The target is a task type. The key becomes the job's id, and is required: an event that is
 * published again is then the same job. The event is the job's payload, as JSON. {@code delay} is a
 * duration such as {@code 30m} or {@code PT30M}, counted from the scheduler's acceptance; {@code
 * at} is an instant such as {@code 2027-01-01T09:00:00Z}. Without either, the job is due at once.
 * Target and key may contain expressions such as {@code #{payBy}}, which read the event only.
 * Headers that the application's {@link EventExternalizationConfiguration} adds become headers of
 * the job.
 *
 * <p>Spring Modulith completes the event's publication when the scheduler has acknowledged the job.
 * If the submit fails, the publication stays incomplete until the application resubmits it.
 */
public class ExternalizedJobs implements ConditionalEventListener {

  private final Supplier<TaskSubmitService> tasks;
  private final EventExternalizationConfiguration configuration;
  // Expressions stand in the application's code. They read the event, and no types or beans.
  private final EvaluationContext context =
      SimpleEvaluationContext.forReadOnlyDataBinding().withInstanceMethods().build();

  /**
   * Creates a listener.
   *
   * @param tasks asked for the service at the first event
   * @param configuration says which events are externalized, and to which targets
   */
  public ExternalizedJobs(
      Supplier<TaskSubmitService> tasks, EventExternalizationConfiguration configuration) {
    this.tasks = tasks;
    this.configuration = configuration;
  }

  @Override
  public boolean supports(Object event) {
    return configuration.supports(event)
        && JobTarget.isJob(configuration.determineTarget(event).getTarget());
  }

  /**
   * Submits the job of an event; does nothing if the event has another target.
   *
   * @return what was submitted, which Spring publishes as an event; null for another target
   * @throws PunctualException if the scheduler has not acknowledged the job
   */
  @ApplicationModuleListener(propagation = Propagation.SUPPORTS)
  public CompletableFuture<@Nullable EventExternalized<?, ?>> externalize(Object event) {
    if (!supports(event)) {
      return CompletableFuture.completedFuture(null);
    }
    RoutingTarget target = configuration.determineTarget(event);
    Object payload = configuration.map(event);
    SubmitResult result = submit(event, payload, target);
    return CompletableFuture.completedFuture(
        new EventExternalized<>(event, payload, target, result));
  }

  private SubmitResult submit(Object event, Object payload, RoutingTarget target) {
    BrokerRouting routing = BrokerRouting.of(target, context);
    String id = target.getKey() == null ? null : routing.getKey(payload);
    if (id == null || id.isEmpty()) {
      throw new InvalidJobException(
          "the target '%s' of %s has no key, which becomes the job's id. Add one: %s::#{id}"
              .formatted(target, event.getClass().getName(), target.getTarget()));
    }
    JobTarget job = JobTarget.parse(routing.getTarget(payload));
    JobRequest request = tasks.get().job(job.taskType(), payload).id(id);
    configuration
        .getHeadersFor(event)
        .forEach((name, value) -> request.header(name, String.valueOf(value)));
    SubmitResult result =
        job.at() != null
            ? request.at(job.at()).send()
            : request.in(job.delay() == null ? Duration.ZERO : job.delay()).send();
    if (result.outcome() == SubmitResult.Outcome.ON_COMMIT) {
      throw new IllegalStateException(
          "The job %s of %s waits for the commit of a transaction, so its publication stays"
                  .formatted(id, event.getClass().getName())
              + " incomplete. Resubmit publications outside of transactions.");
    }
    return result;
  }
}
