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
  private final String delivery;

  /**
   * @param convention in the place of the default one; null for none
   * @param delivery how jobs come here: {@link JobInvokeContext#getDelivery}
   */
  public MicrometerAttemptObservations(
      ObservationRegistry registry,
      @Nullable JobInvokeObservationConvention convention,
      String delivery) {
    this.registry = registry;
    this.convention = convention;
    this.delivery = delivery;
  }

  @Override
  public Observed started(
      String taskType, String taskId, int attempt, Map<String, String> headers) {
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
