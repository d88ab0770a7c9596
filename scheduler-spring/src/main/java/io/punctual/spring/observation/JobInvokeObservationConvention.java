package io.punctual.spring.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and key values of invocations of workers. A bean of this type takes the place of {@link
 * DefaultJobInvokeObservationConvention}.
 */
public interface JobInvokeObservationConvention extends ObservationConvention<JobInvokeContext> {

  @Override
  default boolean supportsContext(Observation.Context context) {
    return context instanceof JobInvokeContext;
  }

  @Override
  default String getName() {
    return "punctual.client.invoke";
  }
}
