package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.RetryPolicy;
import io.punctual.core.Engine;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.QueueListener;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Every further run has a cause. */
class RepeatsIT extends EngineTestBase {

  private final Map<RepeatCause, Integer> repeats = new ConcurrentHashMap<>();
  private volatile Duration slowness = Duration.ZERO;

  private Engine counted(TestDispatcher dispatcher) {
    return engine(store(), options("counted", this::listener), dispatcher, null);
  }

  private QueueListener listener(QueueName queue) {
    assertThat(queue).isEqualTo(QUEUE);
    return new QueueListener() {
      @Override
      public void repeated(RepeatCause cause, int jobs) {
        LockSupport.parkNanos(slowness.toNanos());
        repeats.merge(cause, jobs, Integer::sum);
      }
    };
  }

  @Test
  void whatGoesOutAgainIsCountedByItsCauseAndNothingElseIs() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = counted(dispatcher);
    submit(engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.parse("1s;attempts=3")));
    dispatcher.next().failed(new ErrorNote("w", "busy"), Duration.ZERO).join();
    assertThat(repeats).isEqualTo(Map.of(RepeatCause.FAILED, 1));
    dispatcher.next().undeliverable(new ErrorNote("w", "nobody there"), Duration.ZERO).join();
    dispatcher.next().release().join();
    assertThat(repeats).isEqualTo(Map.of(RepeatCause.FAILED, 1));
    dispatcher.next().unknown(new ErrorNote("w", "cut"), true, RepeatCause.ANSWER_LOST).join();
    assertThat(repeats).isEqualTo(Map.of(RepeatCause.FAILED, 1, RepeatCause.ANSWER_LOST, 1));
    // The third attempt that counts: a dead letter does not go out again.
    dispatcher.next().failed(new ErrorNote("w", "busy"), Duration.ZERO).join();
    assertThat(engine.find(QUEUE, "a").orElseThrow().state()).isEqualTo(JobState.DEAD);
    submit(engine, "b", Duration.ZERO);
    dispatcher.next().rejected(new ErrorNote("w", "never")).join();
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
    // Counting takes a while: a stop waits for it.
    slowness = Duration.ofMillis(300);
    engine.stop(Duration.ofMillis(50));
    assertThat(repeats).isEqualTo(Map.of(RepeatCause.SCHEDULER_STOPPED, 1));
  }
}
