package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.QueueName;
import io.punctual.server.jobs.BulkOperations;
import io.punctual.server.jobs.BulkOperations.Order;
import io.punctual.server.jobs.JobIds;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class BulkWorkTest {

  private static final Order OF_NO_JOB =
      new Order(
          BulkOperations.Action.CANCEL,
          new JobIds(new QueueName("shop", "order.close"), List.of()),
          null);

  @Test
  @SuppressWarnings("NullAway")
  void anOperationThatAnErrorEndsHasFailedAndOthersRun() {
    AtomicInteger asked = new AtomicInteger();
    // Asked when an operation begins, and when it ends.
    InstantSource clock =
        () -> {
          if (asked.incrementAndGet() == 2) {
            throw new StackOverflowError("of the test");
          }
          return Instant.EPOCH;
        };
    try (BulkWork bulk = new BulkWork(null, clock)) {
      BulkWork.Work failing = bulk.begin(List.of(OF_NO_JOB), 0);
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(failing::isOver);
      assertThat(failing.getState()).isEqualTo(BulkWork.State.FAILED);
      assertThat(failing.getError()).isEqualTo("of the test");
      assertThat(failing.getEnded()).isEqualTo(Instant.EPOCH);

      BulkWork.Work next = bulk.begin(List.of(OF_NO_JOB), 0);
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(next::isOver);
      assertThat(next.getState()).isEqualTo(BulkWork.State.DONE);
    }
  }
}
