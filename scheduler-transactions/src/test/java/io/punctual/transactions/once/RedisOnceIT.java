package io.punctual.transactions.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.RetryLaterException;
import io.punctual.TaskContext;
import io.punctual.test.redis.RedisExtension;
import io.punctual.test.redis.SharedRedis;
import io.punctual.worker.RunningAttempt;
import io.punctual.worker.TimeLimit;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

class RedisOnceIT {

  private static LettuceConnectionFactory connections;
  private static StringRedisTemplate redis;

  private final String application = "shop" + UUID.randomUUID();
  private final AtomicInteger effects = new AtomicInteger();
  private final RedisOnce once = once();

  @BeforeAll
  static void connect() {
    SharedRedis server = RedisExtension.redis();
    connections = new LettuceConnectionFactory(server.host(), server.port());
    connections.afterPropertiesSet();
    connections.start();
    redis = new StringRedisTemplate(connections);
  }

  @AfterAll
  static void disconnect() {
    connections.destroy();
  }

  private static TaskContext attempt(String incarnation) {
    return new RunningAttempt(
        "order.close",
        "1",
        incarnation,
        1,
        0,
        Map.of(),
        Instant.now(),
        Duration.ofSeconds(30),
        new TimeLimit(Thread.currentThread(), () -> {}));
  }

  private RedisOnce once() {
    return new RedisOnce(redis, application, Duration.ofHours(1));
  }

  private boolean run(String incarnation) throws Exception {
    return once.run(attempt(incarnation), effects::incrementAndGet);
  }

  @Test
  void aJobThatIsDeliveredAgainIsLeftOut() throws Exception {
    assertThat(run("a")).isTrue();
    assertThat(run("a")).isFalse();
    assertThat(run("b")).isTrue();
    assertThat(effects).hasValue(2);
    Set<String> keys = Objects.requireNonNull(redis.keys("punctual-once/" + application + "/*"));
    assertThat(keys).hasSize(2);
    assertThat(redis.getExpire(keys.iterator().next())).isBetween(3500L, 3600L);
  }

  @Test
  void workThatFailsIsDoneAgain() throws Exception {
    assertThatThrownBy(
            () ->
                once.run(
                    attempt("a"),
                    () -> {
                      throw new Exception("no");
                    }))
        .hasMessage("no");
    assertThat(run("a")).isTrue();
  }

  @Test
  void whileItRunsASecondDeliveryIsPutOff() throws Exception {
    var unused =
        once.run(
            attempt("a"),
            () -> {
              assertThatThrownBy(() -> run("a")).isInstanceOf(RetryLaterException.class);
              // So long as it may run, and a little longer.
              assertThat(redis.getExpire(key("a"))).isBetween(25L, 35L);
            });
    assertThat(effects).hasValue(0);
    assertThat(run("a")).isFalse();
  }

  @Test
  void aMarkOfAProcessThatDiedDoesNotStayForEver() throws Exception {
    redis.opsForValue().set(key("a"), "running", Duration.ofMillis(50));
    Awaitility.await().until(() -> !Boolean.TRUE.equals(redis.hasKey(key("a"))));
    assertThat(run("a")).isTrue();
  }

  private String key(String incarnation) {
    return "punctual-once/" + application + "/order.close/1/" + incarnation;
  }
}
