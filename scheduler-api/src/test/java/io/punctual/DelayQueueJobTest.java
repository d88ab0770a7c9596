package io.punctual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.conflict.OnConflict;
import io.punctual.wire.Limits;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class DelayQueueJobTest {

  @Test
  void aJobWithoutAnIdGetsARandomOne() {
    DelayQueueJob first = DelayQueueJob.of("order.close").delay(Duration.ofMinutes(30)).build();
    DelayQueueJob second = DelayQueueJob.of("order.close").delay(Duration.ofMinutes(30)).build();

    assertThat(first.taskId()).isNotEqualTo(second.taskId());
  }

  @Test
  void theLaterOfTwoDueTimesWins() {
    DelayQueueJob job =
        DelayQueueJob.of("t").delay(Duration.ofSeconds(1)).dueAt(Instant.ofEpochMilli(7)).build();

    assertThat(job.delayTime()).isEqualTo(7);
    assertThat(job.delay()).isNull();
  }

  @Test
  void aCopyKeepsAllButWhatIsReplaced() throws Exception {
    DelayQueueJob job =
        DelayQueueJob.of("t")
            .taskId("a")
            .delay(Duration.ofSeconds(1))
            .params("p")
            .timeToRun(Duration.ofSeconds(5))
            .retry(RetryPolicy.NEVER)
            .header("x", "y")
            .tag("order:1")
            .expiresIn(Duration.ofDays(1))
            .cancelOn("order.paid", "1")
            .runOn("order.shipped", "1")
            .onConflict(OnConflict.REPLACE)
            .build();
    DelayQueueJob bare = DelayQueueJob.of("other").delay(Duration.ZERO).build();
    for (RecordComponent part : DelayQueueJob.class.getRecordComponents()) {
      if (!part.getName().equals("delayTime")) {
        assertThat(part.getAccessor().invoke(job))
            .as("set %s in the job above, so that its copy is tested", part.getName())
            .isNotEqualTo(part.getAccessor().invoke(bare));
      }
    }

    assertThat(job.toBuilder().build()).isEqualTo(job);
    DelayQueueJob other = job.toBuilder().header("z", "").delayTime(7).build();
    assertThat(other.headers()).containsOnlyKeys("x", "z");
    assertThat(other.toBuilder().headers(job.headers()).delay(Duration.ofSeconds(1)).build())
        .isEqualTo(job);
  }

  @Test
  void everyRefusalNamesItsField() {
    refuses("taskType", DelayQueueJob.of("a b").delay(Duration.ZERO));
    refuses("taskId", DelayQueueJob.of("a").taskId("{}").delay(Duration.ZERO));
    refuses("delayTime", DelayQueueJob.of("a"));
    refuses("delayTime", DelayQueueJob.of("a").delayTime(-1));
    refuses("delayTime", DelayQueueJob.of("a").delayTime(Long.MAX_VALUE));
    refuses("delay", DelayQueueJob.of("a").delay(Duration.ofMillis(-1)));
    refuses("params", DelayQueueJob.of("a").delay(Duration.ZERO).params("ä".repeat(131_073)));
    refuses("timeToRun", DelayQueueJob.of("a").delay(Duration.ZERO).timeToRun(Duration.ZERO));
    refuses("headers", DelayQueueJob.of("a").delay(Duration.ZERO).header("X\r\n", "1"));
    refuses("headers.x", DelayQueueJob.of("a").delay(Duration.ZERO).header("x", "a\nb"));
  }

  @Test
  void whereAJobComesFromIsNotOneOfItsHeaders() {
    DelayQueueJob.Builder full = DelayQueueJob.of("a").delay(Duration.ZERO);
    for (int i = 0; i < Limits.MAX_HEADERS; i++) {
      full.header("h" + i, "");
    }
    assertThat(full.header("traceparent", "").build().headers()).hasSize(17);
    refuses("headers: at most 16", full.header("another", ""));
  }

  private static void refuses(String field, DelayQueueJob.Builder builder) {
    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(field);
  }
}
