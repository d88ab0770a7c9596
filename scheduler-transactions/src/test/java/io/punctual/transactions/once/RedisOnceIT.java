package io.punctual.transactions.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.punctual.RetryLaterException;
import io.punctual.RetryPolicy;
import io.punctual.TaskContext;
import io.punctual.test.redis.RedisExtension;
import io.punctual.test.redis.SharedRedis;
import io.punctual.transactions.HeldLease;
import io.punctual.worker.RunningAttempt;
import io.punctual.worker.TimeLimit;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

@ExtendWith(OutputCaptureExtension.class)
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
    return attempt(incarnation, Duration.ofSeconds(30));
  }

  private static TaskContext attempt(String incarnation, Duration timeToRun) {
    return new RunningAttempt(
        "order.close",
        "1",
        incarnation,
        1,
        0,
        Map.of(),
        InstantSource.system(),
        new TimeLimit(timeToRun, () -> {}),
        new HeldLease());
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
              // One attempt for all of that time.
              assertThatThrownBy(() -> run("a"))
                  .isInstanceOfSatisfying(
                      RetryLaterException.class,
                      e -> assertThat(e.delay().toSeconds()).isBetween(25L, 37L));
              // So long as it may run, and a little longer.
              assertThat(redis.getExpire(key("a"))).isBetween(25L, 35L);
            });
    assertThat(effects).hasValue(0);
    assertThat(run("a")).isFalse();
  }

  /** The process died in the first attempt. Time passes as the delays say, by a shorter mark. */
  @ParameterizedTest
  @ValueSource(strings = {"default", "0s,2m,10m", "0s,0s"})
  void whatDiedWhileItRanRunsAgainWithinItsAttempts(String policy) throws Exception {
    redis.opsForValue().set(key("a"), "running", Duration.ofSeconds(55));
    int counted = 1;
    boolean ran = false;
    while (!ran) {
      try {
        ran = once.run(attempt("a", Duration.ofSeconds(60)), effects::incrementAndGet);
      } catch (RetryLaterException e) {
        counted++;
        assertThat(counted).isLessThan(RetryPolicy.parse(policy).maxAttempts());
        Long left = Objects.requireNonNull(redis.getExpire(key("a"), TimeUnit.MILLISECONDS));
        // Which removes it where nothing is left.
        assertThat(redis.expire(key("a"), Duration.ofMillis(left).minus(e.delay()))).isTrue();
      }
    }
    assertThat(effects).hasValue(1);
  }

  @Test
  void aMarkThatItIsDoneIsNoDelay() throws Exception {
    // As when the other delivery ended between two questions: nobody waits for an hour.
    redis.opsForValue().set(key("a"), "some other word", Duration.ofHours(1));
    assertThatThrownBy(() -> run("a"))
        .isInstanceOfSatisfying(
            RetryLaterException.class, e -> assertThat(e.delay().toSeconds()).isLessThan(40));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoeverIsInterruptedLeavesHisMarkAllTheSame(boolean done, CapturedOutput log)
      throws Exception {
    Throwable thrown =
        catchThrowable(
            () ->
                once.run(
                    attempt("a"),
                    () -> {
                      Thread.currentThread().interrupt();
                      if (!done) {
                        throw new Exception("interrupted");
                      }
                    }));

    assertThat(Thread.interrupted()).isTrue();
    assertThat(thrown == null).isEqualTo(done);
    assertThat(redis.opsForValue().get(key("a"))).isEqualTo(done ? "done" : null);
    // Where the call arrived although nobody waited for its answer.
    assertThat(log.getAll()).doesNotContain("still stored", "was not stored");
  }

  @Test
  void aJobThatAsksForMoreTimeKeepsItsMarkAsLong() throws Exception {
    TaskContext attempt = attempt("a");
    var unused =
        once.run(
            attempt,
            () -> {
              attempt.extend(Duration.ofMinutes(10));
              once.extended(attempt);
              assertThat(redis.getExpire(key("a"))).isBetween(595L, 605L);
            });
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
