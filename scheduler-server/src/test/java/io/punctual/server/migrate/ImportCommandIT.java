package io.punctual.server.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.server.check.RedisUrl;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;

/** The command's password, and the queues that it empties. */
class ImportCommandIT {

  private static String look(RedisServer redis, Map<String, String> environment) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    int unused =
        new ImportCommand(environment::get, out, out)
            .run(
                List.of(
                    "sorted-set",
                    "redis://127.0.0.1:" + redis.port(),
                    "kept",
                    "--application=shop",
                    "--task-type=order.close",
                    "--dry-run"));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static OldQueue queue(int port) {
    return queue(RedisUrl.parse("redis://127.0.0.1:" + port).connect());
  }

  private static OldQueue queue(UnifiedJedis redis) {
    return new OldQueue(
        redis,
        OldLibrary.named("sorted-set").orElseThrow(),
        "kept",
        new PayloadFormat(false, false));
  }

  @Test
  void itEndsAlthoughJobsAreStillSent() throws Exception {
    try (RedisServer redis = RedisServer.startTemporary();
        OldQueue queue = queue(redis.port())) {
      queue.open();
      int takes = 0;
      do {
        Resp.call(redis.port(), "ZADD", "kept", "2000000000000", "job-" + takes);
        takes++;
      } while (queue.take(10, entry -> true) > 0 && takes < 10);

      assertThat(takes).isEqualTo(3);
      assertThat(queue.taken()).hasSize(2);
      assertThat(Resp.call(redis.port(), "ZCARD", "kept")).isEqualTo("1");
    }
  }

  /** Here, it changes whenever the command has looked at twenty jobs. */
  @Test
  void aQueueThatChangesAllTheTimeIsEmptied() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    try (RedisServer redis = RedisServer.startTemporary();
        UnifiedJedis old = RedisUrl.parse("redis://127.0.0.1:" + redis.port()).connect();
        OldQueue queue = queue(redis.port())) {
      for (int i = 0; i < 300; i++) {
        old.zadd("kept", 2e12, "job-" + i);
      }
      queue.open();
      int taken = 0;
      while (taken < 300) {
        taken +=
            queue.take(
                500,
                entry ->
                    seen.incrementAndGet() % 20 > 0
                        || old.zadd("kept", 3e12, "late-" + seen.get()) == 1);
      }

      assertThat(queue.taken().size() + old.zcard("kept")).isEqualTo(300 + seen.get() / 20);
    }
  }

  /** The senders go on while the command runs. */
  @Test
  void aRefusedJobThatIsAddedAgainIsNotTaken() throws Exception {
    try (RedisServer redis = RedisServer.startTemporary()) {
      int port = redis.port();
      Resp.call(port, "ZADD", "kept", "2000000000000", "a", "2000000000000", "late");
      try (OldQueue queue = queue(port)) {
        queue.open();
        assertThat(queue.take(10, entry -> true)).isEqualTo(2);
        queue.taken().forEach(queue::refuse);
        Resp.call(port, "ZADD", "kept", "2000000005000", "a", "2000000000000", "b");

        assertThat(queue.take(10, entry -> true)).isEqualTo(2);
        assertThat(queue.taken())
            .extracting(entry -> new String(entry.value(), StandardCharsets.UTF_8))
            .containsExactly("b");
        assertThat(queue.take(10, entry -> true)).isZero();
        Resp.call(port, "ZADD", "kept", "2000000009000", "late");
      }
      assertThat(Resp.call(port, "ZSCORE", "kept", "a")).isEqualTo("2000000005000");
      assertThat(Resp.call(port, "ZSCORE", "kept", "late")).isEqualTo("2000000009000");
      assertThat(Resp.call(port, "EXISTS", "punctual-import-refused:kept")).isEqualTo("0");
    }
  }

  /** It stands still once it has read a hash. */
  @SuppressWarnings("deprecation") // Its successor is made by a builder, and cannot be extended.
  private static final class Slow extends UnifiedJedis {

    private final ThrowingRunnable meanwhile;

    Slow(int port, ThrowingRunnable meanwhile) {
      super(new HostAndPort("127.0.0.1", port));
      this.meanwhile = meanwhile;
    }

    @Override
    public Map<byte[], byte[]> hgetAll(byte[] key) {
      Map<byte[], byte[]> all = super.hgetAll(key);
      try {
        meanwhile.run();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
      return all;
    }
  }

  private interface ThrowingRunnable {
    void run() throws Exception;
  }

  @Test
  void aCommandThatLosesTheQueueWhileItPutsBackLeavesItToTheNextOne() throws Exception {
    try (RedisServer redis = RedisServer.startTemporary();
        OldQueue next = queue(redis.port())) {
      int port = redis.port();
      Resp.call(port, "HSET", "punctual-import-refused:kept", "a", "2000000000000");
      ThrowingRunnable loses =
          () -> {
            Resp.call(port, "DEL", "punctual-import-lock:kept");
            next.open();
            assertThat(next.take(10, entry -> true)).isEqualTo(1);
          };
      OldQueue first = queue(new Slow(port, loses));

      assertThatThrownBy(first::open).hasMessageContaining("another import-jobs goes on");

      first.close();
      assertThat(next.taken()).hasSize(1);
      assertThat(Resp.call(port, "ZCARD", "kept")).as("not taken and put back").isEqualTo("0");
      next.hold();
    }
  }

  @Test
  void aRefusedJobThatWasTakenTwiceIsPutBackAtItsLatestTime() throws Exception {
    try (RedisServer redis = RedisServer.startTemporary()) {
      int port = redis.port();
      for (String score : new String[] {"2000000007000", "2000000005000"}) {
        Resp.call(port, "ZADD", "kept", score, "a");
        try (OldQueue queue = queue(port)) {
          queue.open();
          assertThat(queue.take(10, entry -> true)).isEqualTo(1);
        }
      }
      try (OldQueue queue = queue(port)) {
        queue.open();
        queue.taken().forEach(queue::refuse);
      }
      assertThat(Resp.call(port, "ZSCORE", "kept", "a")).isEqualTo("2000000007000");
    }
  }

  @Test
  void thePasswordMayBeInTheEnvironment() throws Exception {
    try (RedisServer redis = RedisServer.startTemporary()) {
      assertThat(Resp.call(redis.port(), "ZADD", "kept", "2000000000000", "a")).isEqualTo("1");
      assertThat(Resp.call(redis.port(), "CONFIG", "SET", "requirepass", "s3cret")).isEqualTo("OK");

      assertThat(look(redis, Map.of())).contains("NOAUTH").doesNotContain("1 would be moved");
      assertThat(look(redis, Map.of("PUNCTUAL_IMPORT_PASSWORD", "s3cret")))
          .contains("1 would be moved, and 0 be refused.");
    }
  }
}
