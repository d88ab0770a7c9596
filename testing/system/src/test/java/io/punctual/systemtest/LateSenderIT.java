package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.worker.WorkerApplication;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A scheduler that stands still while it makes connections to a worker, and goes on after its lease
 * has run out. The worker runs whatever it gets.
 */
@Tag("full")
class LateSenderIT {

  private static final String KEY_PREFIX = "late";
  private static final List<String> PROTOCOLS = List.of(PlainWorker.SINGLE, PlainWorker.BATCH);
  // Of each protocol.
  private static final int JOBS = 200;
  // They leave a scheduler in requests of many or few jobs.
  private static final double APART_MS = 0.1;
  // Deliveries that were on their way when the scheduler stopped; there are up to a hundred.
  private static final int ENOUGH = 10;
  private static final int MOST_WAVES = 5;

  @Test
  void aSchedulerThatWakesAfterItsLeaseSendsNothingOfWhatItHadClaimed() throws Exception {
    try (PlainWorker worker = new PlainWorker(Duration.ofSeconds(3));
        PlainWorker.Door doorOfSleeper = worker.door();
        PlainWorker.Door doorOfOther = worker.door();
        JavaProcess sleeper = scheduler(doorOfSleeper);
        JavaProcess other = scheduler(doorOfOther)) {
      int pings = doorOfSleeper.pings();
      sleeper.start();
      other.start().awaitReady();
      sleeper.awaitReady();
      Waiting.until("both schedulers see the worker", () -> seen(sleeper) && seen(other));
      Waiting.until(
          "the sleeper has asked the worker how it is",
          () -> doorOfSleeper.pings() >= pings + PROTOCOLS.size());
      List<Submitter> submitters =
          PROTOCOLS.stream().map(protocol -> new Submitter(application(protocol))).toList();
      int hung = 0;
      int waves = 0;
      while (hung < ENOUGH) {
        // On a busy machine a scheduler may stop before it has claimed anything.
        assertThat(++waves).as("waves, of which none has hung").isLessThanOrEqualTo(MOST_WAVES);
        int before = doorOfSleeper.connections();
        doorOfSleeper.shut();
        long due = System.currentTimeMillis() + 1_500;
        for (int i = 0; i < PROTOCOLS.size(); i++) {
          String prefix = PROTOCOLS.get(i) + "-" + waves;
          submitters.get(i).submit(sleeper, prefix + "-a-", JOBS / 2, "record", due, APART_MS);
          submitters.get(i).submit(other, prefix + "-b-", JOBS / 2, "record", due, APART_MS);
        }

        // Both claim at the same time. The sleeper's connections hang until it stops itself.
        String first = "-" + waves + "-";
        Waiting.untilOnce(
            "jobs fall due", () -> worker.begun().stream().anyMatch(id -> id.contains(first)));
        sleeper.suspend();
        doorOfSleeper.open();
        Set<String> held = heldBy(sleeper, other, submitters);
        Waiting.until("the other one delivers them", () -> worker.begun().containsAll(held));
        int connections = doorOfSleeper.connections();
        hung = connections - before;
        System.out.printf(
            "The scheduler that stopped held %d jobs; %d connections hung%n", held.size(), hung);
        sleeper.resume();
        Waiting.until(
            "the sleeper has used its connections, or given them up",
            () -> doorOfSleeper.left() >= connections);
        for (Submitter submitter : submitters) {
          Waiting.until("all jobs have ended", () -> submitter.drained(other));
        }
      }

      assertThat(worker.outdated()).isEmpty();
      assertThat(worker.ended()).hasSize(waves * PROTOCOLS.size() * JOBS);
      for (Submitter submitter : submitters) {
        assertThat(submitter.queue(other).at("/counters/done").intValue()).isEqualTo(waves * JOBS);
      }
    }
  }

  private static Set<String> heldBy(
      JavaProcess holder, JavaProcess asked, List<Submitter> submitters) throws IOException {
    Set<String> held = new TreeSet<>();
    for (Submitter submitter : submitters) {
      held.addAll(submitter.heldBy(holder, asked));
    }
    return held;
  }

  private static String application(String protocol) {
    return KEY_PREFIX + "-" + protocol;
  }

  private static boolean seen(JavaProcess scheduler) throws IOException {
    for (String protocol : PROTOCOLS) {
      String workers = scheduler.url() + "/api/v1/workers?application=" + application(protocol);
      if (Http.get(workers).json().get("items").size() != 1) {
        return false;
      }
    }
    return true;
  }

  /** A scheduler that knows the worker by one of its doors. */
  private static JavaProcess scheduler(PlainWorker.Door door) {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--eureka.client.enabled=false", "--punctual.lease=5s", "--punctual.buckets=16"));
    for (String protocol : PROTOCOLS) {
      String instance =
          "--spring.cloud.discovery.client.simple.instances." + application(protocol) + "[0].";
      String metadata = instance + "metadata[punctual.";
      options.add(instance + "uri=" + door.url());
      options.add(instance + "instance-id=" + door.port());
      options.add(metadata + "task-types]=" + WorkerApplication.TYPE);
      options.add(metadata + "callback-path]=/" + protocol);
      options.add(metadata + "protocol]=" + protocol);
      options.add(metadata + "concurrency]=1000");
    }
    return PROGRAMS.scheduler(
        "http://127.0.0.1:1", REDIS.port(), KEY_PREFIX, options.toArray(String[]::new));
  }
}
