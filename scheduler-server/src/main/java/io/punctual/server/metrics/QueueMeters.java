package io.punctual.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.punctual.core.DeathCause;
import io.punctual.core.Lateness;
import io.punctual.core.QueueListener;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submitted;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one queue. All of them are there from the first event on, at zero: a rate must not
 * miss the first.
 */
final class QueueMeters implements QueueListener {

  private static final Duration[] LATENESS =
      Stream.of(
              5L,
              10L,
              25L,
              50L,
              100L,
              250L,
              500L,
              1_000L,
              2_500L,
              5_000L,
              10_000L,
              30_000L,
              60_000L,
              300_000L,
              1_800_000L,
              3_600_000L)
          .map(Duration::ofMillis)
          .toArray(Duration[]::new);
  private static final Duration[] STAGES =
      Stream.of(10L, 100L, 1_000L, 10_000L, 60_000L, 600_000L)
          .map(Duration::ofMillis)
          .toArray(Duration[]::new);
  private static final Duration[] DELIVERY =
      Stream.of(
              5L, 10L, 25L, 50L, 100L, 250L, 500L, 1_000L, 2_500L, 5_000L, 10_000L, 30_000L,
              60_000L, 300_000L)
          .map(Duration::ofMillis)
          .toArray(Duration[]::new);

  private final MeterRegistry registry;
  private final Tags tags;
  private final Map<Submitted.Kind, Counter> submitted;
  private final Counter notSubmitted;
  private final Map<Settlement.Op, Counter> attempts;
  private final Map<RepeatCause, Counter> redeliveries;
  private final Map<DeathCause, Counter> dead;
  private final Counter dropped;
  private final Counter leasesLost;
  private final Counter fired;
  private final Counter skipped;
  private final Counter missed;
  private final Timer lateness;
  private final Map<LatenessStage, Timer> stages = new EnumMap<>(LatenessStage.class);
  private final Timer delivery;

  QueueMeters(MeterRegistry registry, QueueName queue) {
    this.registry = registry;
    this.tags = QueueTags.tags(queue);
    String asked = "Jobs that were submitted to this scheduler";
    this.submitted =
        counters(
            Submitted.Kind.class, "punctual.jobs.submitted", asked, "outcome", QueueMeters::name);
    this.notSubmitted = counter("punctual.jobs.submitted", asked, "outcome", "unavailable");
    this.attempts =
        counters(
            Settlement.Op.class,
            "punctual.jobs.attempts",
            "Attempts that have ended",
            "outcome",
            QueueMeters::outcome);
    this.redeliveries =
        counters(
            RepeatCause.class,
            "punctual.jobs.redeliveries",
            "Jobs that go out again, by the cause of it",
            "cause",
            QueueMeters::name);
    this.dead =
        counters(
            DeathCause.class,
            "punctual.jobs.dead",
            "Jobs that have become dead letters",
            "cause",
            QueueMeters::name);
    this.dropped =
        Counter.builder("punctual.jobs.dropped")
            .description("Jobs that could not start in time and were dropped")
            .tags(tags)
            .register(registry);
    this.leasesLost =
        Counter.builder("punctual.leases.lost")
            .description("Leases that were lost while a worker was at work")
            .tags(tags)
            .register(registry);
    this.fired = occurrences("fired");
    this.skipped = occurrences("skipped");
    this.missed = occurrences("missed");
    this.lateness =
        timer(
            "punctual.jobs.lateness",
            "From the due time until the job was first on its way",
            Tags.empty(),
            LATENESS);
    for (LatenessStage stage : LatenessStage.values()) {
      stages.put(
          stage,
          timer(
              LatenessStage.METRIC,
              "What late jobs waited for",
              Tags.of("stage", stage.word()),
              STAGES));
    }
    this.delivery =
        timer(
            "punctual.jobs.delivery",
            "From when a job was sent until it had ended",
            Tags.empty(),
            DELIVERY);
  }

  private Counter occurrences(String outcome) {
    return counter(
        "punctual.schedules.occurrences",
        "Occurrences of recurring schedules that came due",
        "outcome",
        outcome);
  }

  private Timer timer(String name, String description, Tags more, Duration[] buckets) {
    return Timer.builder(name)
        .description(description)
        .tags(tags)
        .tags(more)
        .serviceLevelObjectives(buckets)
        .register(registry);
  }

  private <E extends Enum<E>> Map<E, Counter> counters(
      Class<E> type, String name, String description, String key, Function<E, String> text) {
    Map<E, Counter> counters = new EnumMap<>(type);
    for (E value : EnumSet.allOf(type)) {
      counters.put(value, counter(name, description, key, text.apply(value)));
    }
    return counters;
  }

  private static void increment(@Nullable Counter counter, int by) {
    Objects.requireNonNull(counter).increment(by);
  }

  private Counter counter(String name, String description, String key, String value) {
    return Counter.builder(name)
        .description(description)
        .tags(tags)
        .tag(key, value)
        .register(registry);
  }

  private static String name(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  // As the counters of a queue in the API.
  private static String outcome(Settlement.Op op) {
    return name(op == Settlement.Op.RETURNED ? Settlement.Op.RELEASED : op);
  }

  @Override
  public void submitted(Submitted.Kind answer, int jobs) {
    increment(submitted.get(answer), jobs);
  }

  @Override
  public void notSubmitted(int jobs) {
    notSubmitted.increment(jobs);
  }

  @Override
  public void ended(Settlement.Op how, int jobs) {
    increment(attempts.get(how), jobs);
  }

  @Override
  public void delivered(Lateness late) {
    stages.forEach(
        (stage, timer) -> {
          // Most jobs wait for one thing only: nothing is said of the others.
          if (stage.of(late) > 0) {
            timer.record(stage.of(late), TimeUnit.NANOSECONDS);
          }
        });
    // Last: RecentLateness reads the stages again only if a count of this timer has grown.
    lateness.record(late.nanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public void ran(long nanos) {
    delivery.record(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void repeated(RepeatCause cause, int jobs) {
    increment(redeliveries.get(cause), jobs);
  }

  @Override
  public void died(DeathCause cause, int jobs) {
    increment(dead.get(cause), jobs);
  }

  @Override
  public void dropped(int jobs) {
    dropped.increment(jobs);
  }

  @Override
  public void recurred(int firedNow, int skippedNow, int missedNow) {
    fired.increment(firedNow);
    skipped.increment(skippedNow);
    missed.increment(missedNow);
  }

  @Override
  public void lost(int leases) {
    leasesLost.increment(leases);
  }
}
