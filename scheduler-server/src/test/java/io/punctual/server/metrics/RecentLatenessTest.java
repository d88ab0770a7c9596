package io.punctual.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.punctual.core.job.QueueName;
import java.time.Duration;
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

  @Test
  void aQueueHasTheLatenessOfItsOwnJobs() {
    begin(QUEUE, 1, Duration.ofMillis(500));
    var unused = lateness.look(0);
    begin(QUEUE, 98, Duration.ofMillis(5));
    begin(QUEUE, 2, Duration.ofMillis(50));
    begin(new QueueName("shop", "b"), 1_000, Duration.ofMillis(700));

    assertThat(lateness.of(QUEUE, SECOND))
        .isEqualTo(new RecentLateness.OfQueue(new RecentLateness.Quantiles(10, 100), false, false));
    assertThat(lateness.look(SECOND)).isEqualTo(new RecentLateness.Quantiles(1_000, 1_000));
  }

  @Test
  void whatBeganLongerAgoCountsOnlyWhereNothingBeganSince() {
    begin(QUEUE, 1, Duration.ofMillis(500));
    assertThat(lateness.look(0)).isNull();

    assertThat(lateness.of(QUEUE, SECOND))
        .isEqualTo(
            new RecentLateness.OfQueue(new RecentLateness.Quantiles(1_000, 1_000), false, true));
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
        .isEqualTo(new RecentLateness.OfQueue(null, false, false));
    begin(QueueTags.OTHER, 3, Duration.ofMillis(50));

    assertThat(lateness.of(QUEUE, SECOND))
        .isEqualTo(new RecentLateness.OfQueue(new RecentLateness.Quantiles(100, 100), true, true));
  }

  @Test
  void whoIsLaterThanTheLastEdgeIsNotForgotten() {
    begin(QUEUE, 1, Duration.ofMillis(5));
    begin(QUEUE, 1, Duration.ofHours(2));

    assertThat(lateness.of(QUEUE, SECOND).quantiles())
        .isEqualTo(new RecentLateness.Quantiles(10, Double.POSITIVE_INFINITY));
  }
}
