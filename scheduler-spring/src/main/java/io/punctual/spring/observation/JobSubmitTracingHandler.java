package io.punctual.spring.observation;

import io.micrometer.observation.Observation;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.PropagatingSenderTracingObservationHandler;

/** With Micrometer Tracing: a submit is a span, and its jobs carry it to their workers. */
public final class JobSubmitTracingHandler
    extends PropagatingSenderTracingObservationHandler<JobSubmitContext> {

  public JobSubmitTracingHandler(Tracer tracer) {
    super(tracer, new TraceparentPropagator(tracer));
  }

  @Override
  public boolean supportsContext(Observation.Context context) {
    return context instanceof JobSubmitContext;
  }
}
