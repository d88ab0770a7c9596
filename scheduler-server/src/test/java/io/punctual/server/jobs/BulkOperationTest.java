package io.punctual.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.audit.AuditLog;
import io.punctual.server.history.History;
import io.punctual.server.operation.OperationLog;
import io.punctual.server.operation.OperationRecord;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.core.StringRedisTemplate;

class BulkOperationTest {

  @Test
  @SuppressWarnings("NullAway")
  void anOperationThatAnErrorEndsHasFailedAndGoesOnWhenAskedTo() {
    AtomicInteger asked = new AtomicInteger();
    // Asked when an operation begins, and when it ends.
    InstantSource clock =
        () -> {
          if (asked.incrementAndGet() == 2) {
            throw new StackOverflowError("of the test");
          }
          return Instant.EPOCH;
        };
    AuditLog nobodys = new AuditLog(new StringRedisTemplate(), "test");
    OperationLog none = new OperationLog(new StringRedisTemplate(), "test");
    History nothings = new History(new StringRedisTemplate(), "test");
    try (BulkOperations bulk =
        new BulkOperations(null, null, nobodys, none, nothings, "here", clock)) {
      BulkOperation operation =
          bulk.keep(BulkOperation.Action.CANCEL, List.of(), null, List.of(), "");
      assertThat(operation.getProgress().state()).isEqualTo(BulkOperation.State.PREVIEW);
      assertThat(bulk.begun()).isEqualTo(new BulkOperations.Begun(List.of(), true));

      bulk.begin(operation, 0);
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> operation.getProgress().over());
      assertThat(operation.getProgress().state()).isEqualTo(BulkOperation.State.FAILED);
      assertThat(operation.getProgress().error()).isEqualTo("of the test");
      assertThat(operation.getProgress().ended()).isEqualTo(Instant.EPOCH);

      bulk.begin(operation, 0);
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> operation.getProgress().over());
      assertThat(operation.getProgress().state()).isEqualTo(BulkOperation.State.DONE);
      assertThat(operation.getProgress().error()).isNull();
      assertThat(bulk.begun().all())
          .extracting(OperationRecord::id)
          .containsExactly(operation.getId());

      bulk.begin(operation, 0);
      assertThat(operation.getProgress().state())
          .as("it is done once")
          .isEqualTo(BulkOperation.State.DONE);
    }
  }
}
