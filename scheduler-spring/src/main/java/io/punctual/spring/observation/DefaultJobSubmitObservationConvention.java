package io.punctual.spring.observation;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.punctual.spring.observation.JobObservationDocumentation.HighCardinality;
import io.punctual.spring.observation.JobObservationDocumentation.LowCardinality;

/** As {@link JobObservationDocumentation#SUBMIT} says. To be extended by what is to be added. */
public class DefaultJobSubmitObservationConvention implements JobSubmitObservationConvention {

  private static final KeyValues MESSAGING =
      KeyValues.of(
          HighCardinality.MESSAGING_SYSTEM.withValue("punctual"),
          HighCardinality.MESSAGING_OPERATION_TYPE.withValue("send"),
          HighCardinality.MESSAGING_OPERATION_NAME.withValue("send"));

  /** Nothing has to be set. */
  public DefaultJobSubmitObservationConvention() {}

  @Override
  public String getContextualName(JobSubmitContext context) {
    String type = context.getTaskType();
    return type == null ? "send" : "send " + type;
  }

  @Override
  public KeyValues getLowCardinalityKeyValues(JobSubmitContext context) {
    String type = context.getTaskType();
    String outcome = context.getOutcome();
    return KeyValues.of(
        LowCardinality.TASK_TYPE.withValue(type == null ? "mixed" : type),
        LowCardinality.OUTCOME.withValue(outcome == null ? KeyValue.NONE_VALUE : outcome));
  }

  @Override
  public KeyValues getHighCardinalityKeyValues(JobSubmitContext context) {
    String type = context.getTaskType();
    KeyValues values =
        type == null
            ? MESSAGING
            : MESSAGING.and(HighCardinality.MESSAGING_DESTINATION_NAME.withValue(type));
    return values.and(
        context.isBatch()
            ? HighCardinality.MESSAGING_BATCH_MESSAGE_COUNT.withValue(
                String.valueOf(context.getJobs().size()))
            : HighCardinality.MESSAGING_MESSAGE_ID.withValue(context.getJobs().get(0).taskId()));
  }
}
