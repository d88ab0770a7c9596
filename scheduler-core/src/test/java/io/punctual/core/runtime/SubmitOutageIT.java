package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.core.Engine;
import io.punctual.core.Submit;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** A store that stands still: whoever submits hears so soon. */
@Tag("full")
class SubmitOutageIT extends EngineTestBase {

  private static final int JOBS = 4_000;

  @Test
  void nobodyWaitsForThoseBefore() throws Exception {
    try (RedisServer server = RedisServer.startTemporary()) {
      JedisConnectionFactory own = connections("127.0.0.1", server.port());
      Engine engine =
          engine(
              RedisStore.connect(own, StoreOptions.DEFAULTS),
              options("engine"),
              TestDispatcher.done(),
              null);
      submit(engine, "before", Duration.ofHours(1));

      Resp.call(server.port(), "CLIENT", "PAUSE", "9000", "ALL");
      List<CompletableFuture<Submit>> answers = new ArrayList<>();
      for (int i = 0; i < JOBS; i++) {
        answers.add(engine.submit(APP, job("job-" + i), false));
      }
      // In groups of 200, each with the two seconds that a connection waits, it would be 40 s.
      int unknown = 0;
      int refused = 0;
      long end = System.nanoTime() + Duration.ofSeconds(8).toNanos();
      for (CompletableFuture<Submit> answer : answers) {
        switch (kindOf(answer, end - System.nanoTime())) {
          case UNREACHABLE -> unknown++;
          case REFUSED -> refused++;
          case UNCONFIRMED, CORRUPT, EXCESSIVE ->
              throw new AssertionError("nothing of that is here");
        }
      }
      assertThat(unknown).isPositive();
      assertThat(refused).isGreaterThan(JOBS / 2);

      eventually()
          .ignoreExceptions()
          .until(
              () -> engine.submit(APP, job("after"), false).get().kind() == Submitted.Kind.CREATED);
      engine.close();
      own.destroy();
    }
  }

  private static DelayQueueJob job(String id) {
    return DelayQueueJob.of(TYPE).taskId(id).delay(Duration.ofHours(1)).build();
  }

  private static StoreException.Kind kindOf(CompletableFuture<Submit> answer, long ns)
      throws Exception {
    try {
      throw new AssertionError("stored: " + answer.get(ns, TimeUnit.NANOSECONDS));
    } catch (ExecutionException e) {
      if (e.getCause() instanceof StoreException store) {
        return store.kind();
      }
      throw e;
    }
  }
}
