package io.punctual.spring.observation;

import io.micrometer.observation.Observation;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import java.util.Map;

/**
 * With Micrometer Tracing: an attempt is a span below that of the submit. A further attempt is
 * linked to the submit as well, so that it is told from the first.
 */
public final class JobInvokeTracingHandler
    extends PropagatingReceiverTracingObservationHandler<JobInvokeContext> {

  private final TraceparentPropagator propagator;

  public JobInvokeTracingHandler(Tracer tracer) {
    this(tracer, new TraceparentPropagator(tracer));
  }

  private JobInvokeTracingHandler(Tracer tracer, TraceparentPropagator propagator) {
    super(tracer, propagator);
    this.propagator = propagator;
  }

  @Override
  public boolean supportsContext(Observation.Context context) {
    return context instanceof JobInvokeContext;
  }

  @Override
  public Span.Builder customizeExtractedSpan(JobInvokeContext context, Span.Builder builder) {
    Map<String, String> headers = context.getCarrier();
    TraceContext submit =
        headers == null || context.getAttempt() == 1
            ? null
            : propagator.submit(headers.get(JobSubmitContext.TRACEPARENT));
    return submit == null ? builder : builder.addLink(new Link(submit));
  }
}
