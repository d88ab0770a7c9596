package io.punctual.spring.observation;

import io.micrometer.observation.ObservationRegistry;
import io.punctual.BatchItem;
import io.punctual.DelayQueueJob;
import io.punctual.PunctualException;
import io.punctual.SubmitResult;
import io.punctual.spring.SubmitObservations;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Each submit is a {@link JobObservationDocumentation#SUBMIT}. */
public final class MicrometerSubmitObservations implements SubmitObservations {

  private static final JobSubmitObservationConvention DEFAULT =
      new DefaultJobSubmitObservationConvention();
  private static final String FAILED = "failed";

  private final ObservationRegistry registry;
  private final @Nullable JobSubmitObservationConvention convention;

  /**
   * @param convention in the place of the default one; null for none
   */
  public MicrometerSubmitObservations(
      ObservationRegistry registry, @Nullable JobSubmitObservationConvention convention) {
    this.registry = registry;
    this.convention = convention;
  }

  @Override
  public SubmitResult send(DelayQueueJob job, Function<DelayQueueJob, SubmitResult> send) {
    if (registry.isNoop()) {
      return send.apply(job);
    }
    JobSubmitContext context = new JobSubmitContext(List.of(job), false);
    ScopedObservation observed = start(context);
    try {
      SubmitResult result = send.apply(context.traced(job));
      context.setOutcome(text(result));
      return result;
    } catch (RuntimeException | Error e) {
      failed(context, observed, e);
      throw e;
    } finally {
      observed.stop();
    }
  }

  @Override
  public List<BatchItem> sendAll(
      List<DelayQueueJob> jobs, Function<List<DelayQueueJob>, List<BatchItem>> send) {
    if (registry.isNoop() || jobs.isEmpty()) {
      return send.apply(jobs);
    }
    JobSubmitContext context = new JobSubmitContext(jobs, true);
    ScopedObservation observed = start(context);
    try {
      List<BatchItem> items = send.apply(jobs.stream().map(context::traced).toList());
      ended(context, observed, items);
      return items;
    } catch (RuntimeException | Error e) {
      failed(context, observed, e);
      throw e;
    } finally {
      observed.stop();
    }
  }

  private ScopedObservation start(JobSubmitContext context) {
    return new ScopedObservation(
        () ->
            JobObservationDocumentation.SUBMIT.observation(
                convention, DEFAULT, () -> context, registry));
  }

  private static void ended(
      JobSubmitContext context, ScopedObservation observed, List<BatchItem> items) {
    for (BatchItem item : items) {
      PunctualException error = item.error();
      if (error != null) {
        failed(context, observed, error);
        return;
      }
    }
    Set<String> outcomes =
        items.stream()
            .map(BatchItem::result)
            .filter(Objects::nonNull)
            .map(MicrometerSubmitObservations::text)
            .collect(Collectors.toSet());
    context.setOutcome(outcomes.size() == 1 ? outcomes.iterator().next() : "mixed");
  }

  private static void failed(JobSubmitContext context, ScopedObservation observed, Throwable e) {
    context.setOutcome(FAILED);
    observed.error(e);
  }

  private static String text(SubmitResult result) {
    return result.outcome().name().toLowerCase(Locale.ROOT);
  }
}
