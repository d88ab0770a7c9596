package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.FaultyLink.Point;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * A scheduler that dies at a certain point of a certain script: before Redis gets it, after Redis
 * has run it and before the answer, after the answer.
 */
class CrashPointIT {

  /** What only that script is sent, in Redis's protocol. */
  private static final Map<String, String> MARKERS =
      new TreeMap<>(
          Map.of(
              "submit", "$2\r\nat\r\n",
              "claim", "$4\r\npush\r\n",
              "ack", "$3\r\nack\r\n"));

  @Test
  void wherverASchedulerDiesEachJobIsDoneOnce() throws Exception {
    Workload load = Workload.of("crash");
    Submitter submitter = load.submitter();
    try (FaultyLink link = new FaultyLink().to(REDIS.port());
        JavaProcess scheduler =
            PROGRAMS
                .scheduler(REGISTRY, link.port(), load.application(), "--punctual.lease=2s")
                .start();
        JavaProcess worker = load.worker(REGISTRY).start()) {
      worker.awaitReady();
      for (Map.Entry<String, String> script : MARKERS.entrySet()) {
        for (Point point : Point.values()) {
          scheduler.awaitReady();
          String prefix = script.getKey() + "-" + point + "-";
          if (!script.getKey().equals("submit")) {
            // Due while the wire is there: what is claimed and acked before it does not count.
            submitter.submit(
                scheduler, prefix, 20, "record", System.currentTimeMillis() + 1_000, 0);
          }
          link.once(script.getValue(), point, scheduler::kill);
          if (script.getKey().equals("submit")) {
            submitter.submitOne(scheduler, prefix + 0, "record", System.currentTimeMillis());
          }
          Waiting.until(prefix + " happened", link::happened);
          scheduler.start().awaitReady();
          if (script.getKey().equals("submit")) {
            // As a client does that got no answer: the same again.
            assertThat(
                    submitter.submitOne(
                        scheduler, prefix + 0, "record", submitter.dueOf(prefix + 0)))
                .isTrue();
          }
          load.awaitDrained(scheduler);
        }
      }
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(2 * 3 * 20 + 3);
      // The starter remembers what it has done: not even an ack that was lost repeats a job.
      assertThat(accounting.repeated()).isEmpty();
    }
  }
}
