package io.punctual.spring.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and key values of submits. A bean of this type takes the place of {@link
 * DefaultJobSubmitObservationConvention}.
 */
public interface JobSubmitObservationConvention extends ObservationConvention<JobSubmitContext> {

  @Override
  default boolean supportsContext(Observation.Context context) {
    return context instanceof JobSubmitContext;
  }

  @Override
  default String getName() {
    return "punctual.client.submit";
  }
}
