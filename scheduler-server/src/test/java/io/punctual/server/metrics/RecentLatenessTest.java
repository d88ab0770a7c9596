package io.punctual.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.punctual.core.Lateness;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RecentLatenessTest {

  private static final long SECOND = 1_000_000_000L;
  private static final QueueName QUEUE = new QueueName("shop", "a");

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final RecentLateness lateness = new RecentLateness(registry);

  private void begin(QueueName queue, int jobs, Duration late) {
    Timer timer =
        Timer.builder("punctual.jobs.lateness")
            .tags(QueueTags.tags(queue))
            .serviceLevelObjectives(
                Duration.ofMillis(10), Duration.ofMillis(100), Duration.ofSeconds(1))
            .register(registry);
    for (int i = 0; i < jobs; i++) {
      timer.record(late);
    }
  }

  // Of jobs whose stages are not known.
  private static RecentLateness.OfQueue ofQueue(
      double p50, double p99, boolean together, boolean sinceStart) {
    return new RecentLateness.OfQueue(
        new RecentLateness.Quantiles(p50, p99),
        new RecentLateness.Split(0, List.of()),
        together,
        sinceStart);
  }

  @Test
  void aQueueHasTheLatenessOfItsOwnJobs() {
    begin(QUEUE, 1, Duration.ofMillis(500));
    var unused = lateness.look(0);
    begin(QUEUE, 98, Duration.ofMillis(5));
    begin(QUEUE, 2, Duration.ofMillis(50));
    begin(new QueueName("shop", "b"), 1_000, Duration.ofMillis(700));

    assertThat(lateness.of(QUEUE, SECOND)).isEqualTo(ofQueue(10, 100, false, false));
    assertThat(lateness.look(SECOND)).isEqualTo(new RecentLateness.Quantiles(1_000, 1_000));
  }

  @Test
  void whatWasRegisteredBeforeCountsToo() {
    begin(QUEUE, 1, Duration.ofMillis(50));

    RecentLateness later = new RecentLateness(registry);
    var unused = later.look(0);
    begin(QUEUE, 1, Duration.ofMillis(500));
    assertThat(later.look(SECOND)).isEqualTo(new RecentLateness.Quantiles(1_000, 1_000));
  }

  @Test
  void whatBeganLongerAgoCountsOnlyWhereNothingBeganSince() {
    begin(QUEUE, 1, Duration.ofMillis(500));
    assertThat(lateness.look(0)).isNull();

    assertThat(lateness.of(QUEUE, SECOND)).isEqualTo(ofQueue(1_000, 1_000, false, true));
    begin(QUEUE, 1, Duration.ofMillis(50));
    assertThat(lateness.look(SECOND)).isEqualTo(new RecentLateness.Quantiles(100, 100));
    assertThat(lateness.look(62 * SECOND)).isNull();
    assertThat(lateness.of(QUEUE, 62 * SECOND).sinceStart()).isTrue();
  }

  @Test
  void whatBeganWhileNobodyLookedIsNotOfTheLastMinute() {
    begin(QUEUE, 1, Duration.ofMillis(5));
    var unused = lateness.look(0);
    begin(QUEUE, 1, Duration.ofMillis(500));

    assertThat(lateness.of(QUEUE, 3_600 * SECOND).sinceStart()).isTrue();
    assertThat(lateness.look(3_600 * SECOND)).isNull();
  }

  @Test
  void aQueueWithoutFiguresOfItsOwnShowsThatOfAllSuchAndSaysSo() {
    assertThat(lateness.of(QUEUE, SECOND))
        .isEqualTo(new RecentLateness.OfQueue(null, null, false, false));
    begin(QueueTags.OTHER, 3, Duration.ofMillis(50));

    assertThat(lateness.of(QUEUE, SECOND)).isEqualTo(ofQueue(100, 100, true, true));
  }

  @Test
  void whoIsLaterThanTheLastEdgeIsNotForgotten() {
    begin(QUEUE, 1, Duration.ofMillis(5));
    begin(QUEUE, 1, Duration.ofHours(2));

    assertThat(lateness.of(QUEUE, SECOND).quantiles())
        .isEqualTo(new RecentLateness.Quantiles(10, Double.POSITIVE_INFINITY));
  }

  private static Lateness late(long retryMs, long roomMs, long scanMs, long dispatchMs) {
    return new Lateness(
        retryMs * 1_000_000, roomMs * 1_000_000, scanMs * 1_000_000, dispatchMs * 1_000_000);
  }

  @Test
  void whatJobsWaitedForIsWhatTheMetricSays() {
    QueueMeters meters = new QueueMeters(registry, QUEUE);
    meters.delivered(late(0, 0, 90_000, 0));
    new QueueMeters(registry, new QueueName("shop", "b")).delivered(late(0, 0, 7_000, 0));
    var unused = lateness.look(0);
    // Only these are of the last minute.
    meters.delivered(late(0, 600_000, 300, 0));
    meters.delivered(late(0, 0, 0, 300));

    RecentLateness.OfQueue recent = lateness.of(QUEUE, SECOND);
    assertThat(recent.sinceStart()).isFalse();
    assertThat(recent.split()).isNotNull();
    assertThat(recent.split().mean()).isCloseTo(300_300, within(0.01));
    assertThat(recent.split().longest()).isEqualTo(LatenessStage.ROOM);
    assertThat(recent.split().parts())
        .extracting(RecentLateness.Part::stage)
        .containsExactly(LatenessStage.ROOM, LatenessStage.SCAN, LatenessStage.DISPATCH);
    double begin = 0;
    for (RecentLateness.Part part : recent.split().parts()) {
      assertThat(part.begin()).isCloseTo(begin, within(1e-9));
      assertThat(part.percent())
          .isCloseTo(part.stage() == LatenessStage.ROOM ? 99.9001 : 0.04995, within(1e-4));
      begin += part.percent();
    }
    assertThat(begin).isCloseTo(100, within(1e-9));

    RecentLateness.OfQueue all = lateness.of(QUEUE, 3_600 * SECOND);
    assertThat(all.sinceStart()).isTrue();
    for (RecentLateness.Part part : all.split().parts()) {
      double metric =
          registry
              .get("punctual.jobs.lateness.stage")
              .tags("application", "shop", "task.type", "a", "stage", part.stage().word())
              .timer()
              .totalTime(TimeUnit.MILLISECONDS);
      assertThat(part.mean()).isCloseTo(metric / 3, within(1e-6));
    }
    assertThat(all.split().mean()).isCloseTo(690_600 / 3.0, within(0.01));
  }
}
