package io.punctual.spring.observation;

import io.micrometer.observation.ObservationRegistry;
import io.punctual.internal.AttemptObservations;
import io.punctual.internal.JobListeners;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Each attempt is a {@link JobObservationDocumentation#INVOKE}. */
public final class MicrometerAttemptObservations implements AttemptObservations {

  private static final JobInvokeObservationConvention DEFAULT =
      new DefaultJobInvokeObservationConvention();

  private final ObservationRegistry registry;
  private final @Nullable JobInvokeObservationConvention convention;

  /**
   * @param convention in the place of the default one; null for none
   */
  public MicrometerAttemptObservations(
      ObservationRegistry registry, @Nullable JobInvokeObservationConvention convention) {
    this.registry = registry;
    this.convention = convention;
  }

  @Override
  public Observed started(
      String delivery, String taskType, String taskId, int attempt, Map<String, String> headers) {
    if (registry.isNoop()) {
      return UNOBSERVED;
    }
    JobInvokeContext context = new JobInvokeContext(taskType, taskId, attempt, headers, delivery);
    ScopedObservation observed =
        new ScopedObservation(
            () ->
                JobObservationDocumentation.INVOKE.observation(
                    convention, DEFAULT, () -> context, registry));
    return new Observed() {
      @Override
      public void leave() {
        observed.close();
      }

      @Override
      public void enter() {
        observed.open();
      }

      @Override
      public void ended(@Nullable Throwable thrown, boolean deferred) {
        context.setOutcome(JobListeners.outcome(thrown, deferred));
        if (thrown != null) {
          observed.error(thrown);
        }
        observed.stop();
      }
    };
  }
}
