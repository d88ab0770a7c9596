package io.punctual.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.RetryPolicy;
import io.punctual.core.job.JobState;
import io.punctual.core.queue.QueueName;
import io.punctual.core.store.RedisStore;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreOptions;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Every further run has a cause. */
class RepeatsIT extends EngineTestBase {

  private static final String BUCKET = ":{shop:order.close:0}:";

  private final Map<RepeatCause, Integer> repeats = new ConcurrentHashMap<>();

  private Engine counted(TestDispatcher dispatcher) {
    return engine(store(), options("counted", this::listener), dispatcher, null);
  }

  private QueueListener listener(QueueName queue) {
    assertThat(queue).isEqualTo(QUEUE);
    return new QueueListener() {
      @Override
      public void repeated(RepeatCause cause, int jobs) {
        repeats.merge(cause, jobs, Integer::sum);
      }
    };
  }

  @Test
  void whatGoesOutAgainIsCountedByItsCauseAndNothingElseIs() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = counted(dispatcher);
    submit(engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.parse("1s;attempts=3")));
    dispatcher.next().failed("w", "busy", Duration.ZERO).join();
    assertThat(repeats).isEqualTo(Map.of(RepeatCause.FAILED, 1));
    dispatcher.next().undeliverable("w", "nobody there", Duration.ZERO).join();
    dispatcher.next().release().join();
    assertThat(repeats).isEqualTo(Map.of(RepeatCause.FAILED, 1));
    dispatcher.next().unknown("w", "cut", true, RepeatCause.ANSWER_LOST).join();
    assertThat(repeats).isEqualTo(Map.of(RepeatCause.FAILED, 1, RepeatCause.ANSWER_LOST, 1));
    // The third attempt that counts: a dead letter does not go out again.
    dispatcher.next().failed("w", "busy", Duration.ZERO).join();
    assertThat(engine.find(QUEUE, "a").orElseThrow().state()).isEqualTo(JobState.DEAD);
    submit(engine, "b", Duration.ZERO);
    dispatcher.next().rejected("w", "never").join();
    submit(engine, "c", Duration.ZERO);
    dispatcher.next().done().join();
    assertThat(repeats).isEqualTo(Map.of(RepeatCause.FAILED, 1, RepeatCause.ANSWER_LOST, 1));
  }

  @Test
  void whoPullsAndFailsIsCounted() {
    TestDispatcher nobody = new TestDispatcher();
    nobody.capacity.set(0);
    Engine pulled = counted(nobody);
    submit(pulled, "b", Duration.ZERO);
    List<PulledJob> jobs =
        pulled
            .claims()
            .pull(new PullRequest(List.of(QUEUE), 1, Duration.ofSeconds(20), null, "w"))
            .join();
    pulled.claims().failed(jobs.get(0).token(), "w", "busy", Duration.ZERO).join();
    assertThat(repeats).isEqualTo(Map.of(RepeatCause.FAILED, 1));
  }

  @Test
  void aLeaseThatNobodyKeptIsACause() {
    TestDispatcher dying = new TestDispatcher();
    Engine killed = engine(store(), options("dying"), dying, null);
    submit(killed, "a", Duration.ZERO);
    dying.next();
    TestDispatcher survivor = new TestDispatcher();
    counted(survivor);
    killed.close();

    survivor.next().done().join();
    assertThat(repeats).isEqualTo(Map.of(RepeatCause.LEASE_EXPIRED, 1));
  }

  @Test
  void soIsASchedulerThatCouldWaitNoLonger() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = counted(dispatcher);
    submit(engine, "a", Duration.ZERO);
    dispatcher.next();
    engine.stop(Duration.ofMillis(50));
    assertThat(repeats).isEqualTo(Map.of(RepeatCause.SCHEDULER_STOPPED, 1));
  }

  @Test
  void andAStoreThatForgotThatAJobIsDone() throws IOException {
    try (RedisServer server = RedisServer.startTemporary()) {
      JedisConnectionFactory own = connections("127.0.0.1", server.port());
      Store store = RedisStore.connect(own, new StoreOptions(prefix, Duration.ofMinutes(10)));
      TestDispatcher dispatcher = new TestDispatcher();
      // A lease that does not run out before the store is found to be another one.
      EngineOptions patient =
          EngineOptions.defaults("counted").with().listener(this::listener).build();
      Engine engine = engine(store, patient, dispatcher, null);
      eventually()
          .until(
              () ->
                  Integer.parseInt(
                          "0" + Resp.call(server.port(), "HGET", prefix + ":epoch", "sequence"))
                      >= 2);
      submit(engine, "a", Duration.ZERO);
      Delivery delivery = dispatcher.next();
      List<String> parts = List.of("jobs", "reserved", "leases");
      for (String part : parts) {
        Resp.call(server.port(), "COPY", prefix + BUCKET + part, "kept:" + part);
      }
      delivery.done().join();
      for (String part : parts) {
        Resp.call(server.port(), "COPY", "kept:" + part, prefix + BUCKET + part);
      }
      Resp.call(server.port(), "HSET", prefix + ":epoch", "sequence", "0");

      eventually().until(() -> repeats.equals(Map.of(RepeatCause.DONE_FORGOTTEN, 1)));
      assertThat(engine.find(QUEUE, "a").orElseThrow().state()).isEqualTo(JobState.FINISHED);
      engine.close();
      own.destroy();
    }
  }
}
