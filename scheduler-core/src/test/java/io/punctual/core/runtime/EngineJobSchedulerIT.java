package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.BatchItem;
import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.InvalidJobException;
import io.punctual.PunctualException;
import io.punctual.SchedulerUnavailableException;
import io.punctual.core.Engine;
import io.punctual.core.local.EngineJobScheduler;
import io.punctual.spi.JobScheduler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnection;

/** What goes wrong in the store, in the terms of those who call. */
class EngineJobSchedulerIT extends EngineTestBase {

  private static DelayQueueJob job(String type, String id) {
    return DelayQueueJob.of(type).taskId(id).delay(Duration.ofHours(1)).tag("order:1").build();
  }

  @Test
  void aQueueThatIsDamagedIsNoStoreThatIsAway() {
    JobScheduler scheduler = new EngineJobScheduler(APP, engine(TestDispatcher.done()));
    var unused = scheduler.submit(job("damaged", "1"));
    damage("damaged");

    assertThatThrownBy(() -> scheduler.cancel("damaged", "1"))
        .isNotInstanceOf(SchedulerUnavailableException.class)
        .isInstanceOfSatisfying(
            PunctualException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
        .hasMessageContaining("damaged, and nothing was changed")
        .hasMessageContaining(":delayed is a ");
    List<BatchItem> items = scheduler.submitAll(List.of(job("damaged", "2"), job("sound", "3")));
    assertThat(Objects.requireNonNull(items.get(0).error()).code()).isEqualTo(ErrorCode.INTERNAL);
    assertThat(items.get(1).error()).isNull();
  }

  private void damage(String type) {
    try (RedisConnection connection = connections.getConnection()) {
      for (byte[] key :
          Objects.requireNonNull(
              connection.keyCommands().keys(bytes(prefix + ":*" + type + "*:delayed")))) {
        connection.keyCommands().del(key);
        connection.listCommands().rPush(key, bytes("foreign"));
      }
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void oneQueueTooManyIsWrongInput() {
    Engine engine =
        engine(store(), options("engine").with().maxQueues(1).build(), TestDispatcher.done(), null);
    JobScheduler scheduler = new EngineJobScheduler(APP, engine);
    var unused = scheduler.submit(job("one", "1"));

    assertThatThrownBy(() -> scheduler.submit(job("two", "1")))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("taskType is new, and shop has 1 of them");
    assertThat(scheduler.submitAll(List.of(job("two", "1"), job("one", "2"))))
        .extracting(BatchItem::error)
        .satisfiesExactly(
            error -> assertThat(error).isInstanceOf(InvalidJobException.class),
            error -> assertThat(error).isNull());
  }

  @Test
  void whoIsInterruptedCancelsNoFurther() {
    JobScheduler scheduler = new EngineJobScheduler(APP, engine(TestDispatcher.done()));
    var unused = scheduler.submit(job(TYPE, "1"));

    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> scheduler.cancelByTag("order:1"))
        .isInstanceOf(SchedulerUnavailableException.class)
        .hasMessageContaining("interrupted");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(scheduler.cancelByTag("order:1").cancelled()).isEqualTo(1);
  }
}
