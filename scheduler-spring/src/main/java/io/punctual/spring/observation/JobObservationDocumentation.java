package io.punctual.spring.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations that the starters make, with their default names and key values. */
public enum JobObservationDocumentation implements ObservationDocumentation {

  /**
   * A {@code send} or {@code sendAll} of a {@link io.punctual.TaskSubmitService}, until it is
   * answered, or until it is kept with the transaction of its thread.
   */
  SUBMIT {
    @Override
    public Class<? extends ObservationConvention<? extends Observation.Context>>
        getDefaultConvention() {
      return DefaultJobSubmitObservationConvention.class;
    }

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
      return new KeyName[] {LowCardinality.TASK_TYPE, LowCardinality.OUTCOME};
    }

    @Override
    public KeyName[] getHighCardinalityKeyNames() {
      return new KeyName[] {
        HighCardinality.MESSAGING_SYSTEM,
        HighCardinality.MESSAGING_OPERATION_TYPE,
        HighCardinality.MESSAGING_OPERATION_NAME,
        HighCardinality.MESSAGING_DESTINATION_NAME,
        HighCardinality.MESSAGING_MESSAGE_ID,
        HighCardinality.MESSAGING_BATCH_MESSAGE_COUNT
      };
    }
  },

  /**
   * An attempt of a job: from the call of its worker until that has returned, or its future is
   * complete.
   */
  INVOKE {
    @Override
    public Class<? extends ObservationConvention<? extends Observation.Context>>
        getDefaultConvention() {
      return DefaultJobInvokeObservationConvention.class;
    }

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
      return LowCardinality.values();
    }

    @Override
    public KeyName[] getHighCardinalityKeyNames() {
      return new KeyName[] {
        HighCardinality.MESSAGING_SYSTEM,
        HighCardinality.MESSAGING_OPERATION_TYPE,
        HighCardinality.MESSAGING_OPERATION_NAME,
        HighCardinality.MESSAGING_DESTINATION_NAME,
        HighCardinality.MESSAGING_MESSAGE_ID,
        HighCardinality.ATTEMPT
      };
    }
  };

  /** Of metrics and spans. */
  public enum LowCardinality implements KeyName {

    /** The task type; {@code mixed} for a {@code sendAll} of several. */
    TASK_TYPE("task.type"),

    /**
     * What came of it. Of a submit: {@link JobSubmitContext#getOutcome}; of an invocation: {@link
     * io.punctual.spi.JobAttempt.Outcome} in lower case.
     */
    OUTCOME("outcome"),

    /** How a job came here: {@code push}, {@code pull} or {@code in-process}. */
    DELIVERY("delivery");

    private final String key;

    LowCardinality(String key) {
      this.key = key;
    }

    @Override
    public String asString() {
      return key;
    }
  }

  /** Of spans alone; most of them as OpenTelemetry's conventions for messaging have them. */
  public enum HighCardinality implements KeyName {

    /** Always {@code punctual}. */
    MESSAGING_SYSTEM("messaging.system"),

    /** {@code send} or {@code process}. */
    MESSAGING_OPERATION_TYPE("messaging.operation.type"),

    /** {@code send} or {@code process}. */
    MESSAGING_OPERATION_NAME("messaging.operation.name"),

    /** The task type; not there for a {@code sendAll} of several. */
    MESSAGING_DESTINATION_NAME("messaging.destination.name"),

    /** The task id; not there for a {@code sendAll}. */
    MESSAGING_MESSAGE_ID("messaging.message.id"),

    /** How many jobs a {@code sendAll} has. */
    MESSAGING_BATCH_MESSAGE_COUNT("messaging.batch.message_count"),

    /** Which attempt of the job this is, counted from 1. */
    ATTEMPT("punctual.attempt");

    private final String key;

    HighCardinality(String key) {
      this.key = key;
    }

    @Override
    public String asString() {
      return key;
    }
  }
}
