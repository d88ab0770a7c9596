package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Due;
import io.punctual.core.store.Submission;
import io.punctual.redis.RedisServer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** What cancelled jobs take of Redis's memory, so that their cancels can be undone. */
@Tag("full")
class KeptMemoryIT extends TransitionTestBase {

  private static final RedisServer server = RedisServer.startTemporary("--appendonly", "no");
  private static final Connected redis = Connected.to("127.0.0.1", server.port());
  private static final int JOBS = 20_000;
  private static final int PAGE = 200;
  private static final int BYTES = 300;

  KeptMemoryIT() {
    super(redis);
  }

  @AfterAll
  static void stop() {
    redis.client().close();
    server.close();
  }

  private static long used() {
    try (Jedis jedis = new Jedis("127.0.0.1", server.port())) {
      return jedis
          .info("memory")
          .lines()
          .filter(line -> line.startsWith("used_memory:"))
          .mapToLong(line -> Long.parseLong(line.substring("used_memory:".length()).strip()))
          .findFirst()
          .orElseThrow();
    }
  }

  /** Submits jobs, cancels them, and returns by how many bytes a job they made Redis larger. */
  private long cost(@Nullable String operation) {
    long before = used();
    for (int from = 0; from < JOBS; from += PAGE) {
      List<Submission> jobs = new ArrayList<>();
      for (int i = from; i < from + PAGE; i++) {
        jobs.add(
            new Submission(
                operation + "-" + i,
                "00000000-0000-0000-0000-%012d".formatted(i),
                Due.in(3_600_000),
                10,
                0,
                List.of(),
                new byte[BYTES],
                /* replace= */ false));
      }
      store.submit(bucket, jobs);
    }
    long waiting = used() - before;
    for (int i = 0; i < JOBS; i++) {
      store.cancel(bucket, operation + "-" + i, null, /* interrupt= */ false, "ada", operation);
    }
    long cancelled = used() - before;
    System.out.printf(
        "Bytes a job, cancelled by operation %s: %d waiting, %d cancelled%n",
        operation, waiting / JOBS, cancelled / JOBS);
    assertThat(waiting / JOBS).isGreaterThan(BYTES);
    return cancelled / JOBS;
  }

  @Test
  void whatIsKeptTakesAboutAsMuchAsTheJobDid() {
    long alone = cost(null);
    long together = cost("1b4e28ba-2fa1-11d2-883f-0016d3cca427");
    assertThat(together - alone).isBetween((long) BYTES, 3L * BYTES);
  }
}
