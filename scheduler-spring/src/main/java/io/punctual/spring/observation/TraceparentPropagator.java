package io.punctual.spring.observation;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.propagation.Propagator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The trace of a job as its header {@code traceparent}, version 00 of W3C Trace Context: what
 * Punctual keeps, also where the application's own calls propagate theirs in another way.
 */
final class TraceparentPropagator implements Propagator {

  private static final Pattern SOUND =
      Pattern.compile("00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})");

  private final Tracer tracer;

  TraceparentPropagator(Tracer tracer) {
    this.tracer = tracer;
  }

  @Override
  public List<String> fields() {
    return List.of(JobSubmitContext.TRACEPARENT);
  }

  @Override
  public <C> void inject(TraceContext context, @Nullable C carrier, Setter<C> setter) {
    boolean sampled = Boolean.TRUE.equals(context.sampled());
    String trace = "0".repeat(Math.max(0, 32 - context.traceId().length())) + context.traceId();
    String traceparent = "00-" + trace + "-" + context.spanId() + (sampled ? "-01" : "-00");
    if (SOUND.matcher(traceparent).matches()) {
      setter.set(carrier, JobSubmitContext.TRACEPARENT, traceparent);
    }
  }

  @Override
  public <C> Span.Builder extract(@Nullable C carrier, Getter<C> getter) {
    TraceContext submit =
        carrier == null ? null : submit(getter.get(carrier, JobSubmitContext.TRACEPARENT));
    return submit == null
        ? tracer.spanBuilder().setNoParent()
        : tracer.spanBuilder().setParent(submit);
  }

  /** The span of a submit; null where there is none, or it is not sound. */
  @Nullable TraceContext submit(@Nullable String header) {
    Matcher parts = header == null ? null : SOUND.matcher(header);
    return parts == null || !parts.matches()
        ? null
        : tracer
            .traceContextBuilder()
            .traceId(parts.group(1))
            .spanId(parts.group(2))
            .sampled((Integer.parseInt(parts.group(3), 16) & 1) == 1)
            .build();
  }
}
