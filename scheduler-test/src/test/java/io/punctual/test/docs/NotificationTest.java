package io.punctual.test.docs;

import static io.punctual.test.PunctualAssertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.test.TestScheduler;
import io.punctual.test.junit.PunctualTest;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Stands in docs/test-kit.md. */
@PunctualTest
class NotificationTest {

  @Test
  void aPartnerThatNeverAnswersIsGivenUpAfterADay(TestScheduler scheduler) {
    scheduler.register(
        "payment.notify",
        params -> {
          throw new IllegalStateException("no answer from the partner");
        });
    scheduler
        .taskSubmitService()
        .send(
            DelayQueueJob.of("payment.notify")
                .taskId("7")
                .delay(Duration.ZERO)
                .retry(RetryPolicy.NOTIFY)
                .build());

    scheduler.advance(Duration.ofHours(25));

    assertThat(scheduler)
        .of("payment.notify")
        .hasOne()
        .isDead()
        .wasAttempted(10)
        .failedWith("no answer from the partner");
  }
}
