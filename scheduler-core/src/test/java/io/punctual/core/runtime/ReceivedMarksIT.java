package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.pull.ReceivedMarks;
import io.punctual.core.store.Lease;
import io.punctual.core.times.StartTimes;
import io.punctual.core.work.FailingTimer;
import io.punctual.core.work.Threads;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReceivedMarksIT extends EngineTestBase {

  private static Map<Lease, Duration> lease(String taskId) {
    return Map.of(new Lease(taskId, new LeaseToken("t")), Duration.ofMinutes(1));
  }

  @Test
  void marksAreWrittenThoughTheirFirstRoundCouldNotBeStarted() {
    FailingTimer timer = new FailingTimer();
    Session session =
        new Session(
            store(),
            options("engine"),
            new TestDispatcher(),
            null,
            Threads.inBackground(timer),
            Random::new,
            new StartTimes(calendar -> Set.of()),
            null);
    ReceivedMarks marks = new ReceivedMarks(new Bucket(QUEUE, 0), session.shared().context());
    assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> marks.add(lease("a")));
    assertThat(marks.size()).isEqualTo(1);

    marks.add(lease("b"));

    eventually().until(() -> marks.size() == 0);
    session.close();
  }
}
