package io.punctual.client.tracing;

import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.punctual.DelayQueueJob;
import io.punctual.wire.CallbackRequest;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * With Micrometer Tracing: an attempt is a span within the submitter's trace, named as
 * OpenTelemetry's conventions for messaging have it. A further attempt is linked to the submit as
 * well, so that it is told from the first.
 */
public final class MicrometerJobTracing implements JobTracing {

  private static final String HEADER = "traceparent";
  private static final Pattern TRACEPARENT =
      Pattern.compile("00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})");

  private final Tracer tracer;

  public MicrometerJobTracing(Tracer tracer) {
    this.tracer = tracer;
  }

  @Override
  public DelayQueueJob submitted(DelayQueueJob job) {
    Span current = tracer.currentSpan();
    if (current == null || job.headers().containsKey(HEADER)) {
      return job;
    }
    TraceContext context = current.context();
    boolean sampled = Boolean.TRUE.equals(context.sampled());
    String trace = "0".repeat(Math.max(0, 32 - context.traceId().length())) + context.traceId();
    String traceparent = "00-" + trace + "-" + context.spanId() + (sampled ? "-01" : "-00");
    if (!TRACEPARENT.matcher(traceparent).matches()) {
      return job;
    }
    Map<String, String> headers = new HashMap<>(job.headers());
    headers.put(HEADER, traceparent);
    return new DelayQueueJob(
        job.taskId(),
        job.taskType(),
        job.delayTime(),
        job.delay(),
        job.params(),
        job.timeToRun(),
        job.retry(),
        headers,
        job.tags());
  }

  @Override
  public Attempt started(CallbackRequest.Job job) {
    Span.Builder builder =
        tracer
            .spanBuilder()
            .name("process " + job.taskType())
            .kind(Span.Kind.CONSUMER)
            .tag("messaging.system", "punctual")
            .tag("messaging.operation.type", "process")
            .tag("messaging.operation.name", "process")
            .tag("messaging.destination.name", job.taskType())
            .tag("messaging.message.id", job.taskId())
            .tag("punctual.attempt", job.attempt());
    TraceContext submit = submitOf(job);
    if (submit == null) {
      builder.setNoParent();
    } else {
      builder.setParent(submit);
      if (job.attempt() > 1) {
        builder.addLink(new Link(submit));
      }
    }
    return new Traced(builder.start());
  }

  private final class Traced implements Attempt {

    private final Span span;
    private Tracer.SpanInScope scope;

    Traced(Span span) {
      this.span = span;
      this.scope = tracer.withSpan(span);
    }

    @Override
    public void leave() {
      scope.close();
    }

    @Override
    public void enter() {
      scope = tracer.withSpan(span);
    }

    @Override
    public void ended(@Nullable Throwable thrown) {
      scope.close();
      if (thrown != null) {
        span.error(thrown);
      }
      span.end();
    }
  }

  private @Nullable TraceContext submitOf(CallbackRequest.Job job) {
    String header = job.headers().get(HEADER);
    Matcher parts = header == null ? null : TRACEPARENT.matcher(header);
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
