package io.punctual.spring.observation;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.punctual.spi.JobAttempt;
import io.punctual.spring.observation.JobObservationDocumentation.HighCardinality;
import io.punctual.spring.observation.JobObservationDocumentation.LowCardinality;
import java.util.Locale;

/** As {@link JobObservationDocumentation#INVOKE} says. To be extended by what is to be added. */
public class DefaultJobInvokeObservationConvention implements JobInvokeObservationConvention {

  private static final KeyValues MESSAGING =
      KeyValues.of(
          HighCardinality.MESSAGING_SYSTEM.withValue("punctual"),
          HighCardinality.MESSAGING_OPERATION_TYPE.withValue("process"),
          HighCardinality.MESSAGING_OPERATION_NAME.withValue("process"));

  /** Nothing has to be set. */
  public DefaultJobInvokeObservationConvention() {}

  @Override
  public String getContextualName(JobInvokeContext context) {
    return "process " + context.getTaskType();
  }

  @Override
  public KeyValues getLowCardinalityKeyValues(JobInvokeContext context) {
    JobAttempt.Outcome outcome = context.getOutcome();
    return KeyValues.of(
        LowCardinality.TASK_TYPE.withValue(context.getTaskType()),
        LowCardinality.OUTCOME.withValue(
            outcome == null ? KeyValue.NONE_VALUE : outcome.name().toLowerCase(Locale.ROOT)),
        LowCardinality.DELIVERY.withValue(context.getDelivery()));
  }

  @Override
  public KeyValues getHighCardinalityKeyValues(JobInvokeContext context) {
    return MESSAGING.and(
        HighCardinality.MESSAGING_DESTINATION_NAME.withValue(context.getTaskType()),
        HighCardinality.MESSAGING_MESSAGE_ID.withValue(context.getTaskId()),
        HighCardinality.ATTEMPT.withValue(String.valueOf(context.getAttempt())));
  }
}
