package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Two schedulers and their workers, and no registry: workers register at the schedulers. */
@Tag("full")
class NoRegistryIT {

  private static JavaProcess one;
  private static JavaProcess two;

  @BeforeAll
  static void start() {
    one = scheduler().start();
    two = scheduler().start();
    one.awaitReady();
    two.awaitReady();
  }

  @AfterAll
  static void stop() {
    one.close();
    two.close();
  }

  private static JavaProcess scheduler() {
    return PROGRAMS.scheduler(
        "http://127.0.0.1:1", REDIS.port(), "no-registry", "--eureka.client.enabled=false");
  }

  private static JavaProcess worker(Workload load, String... options) {
    return PROGRAMS.workerWithoutRegistry(
        List.of(one, two),
        load.application(),
        SharedSystem.DIRECTORY.resolve(load.application() + ".record"),
        options);
  }

  @Test
  void allSchedulersCallAWorkerUntilItLeaves() throws Exception {
    Workload load = Workload.of("enters");
    Submitter submitter = load.submitter();
    try (JavaProcess first = worker(load).start().awaitReady();
        JavaProcess second = worker(load)) {
      for (JavaProcess scheduler : List.of(one, two)) {
        Waiting.until("the instance is known", () -> known(scheduler, load).equals(of(first)));
      }
      submitter.submit(one, "one-", 20, "record", System.currentTimeMillis(), 0);
      submitter.submit(two, "two-", 20, "record", System.currentTimeMillis(), 0);
      load.awaitDrained(one);

      second.start().awaitReady();
      for (JavaProcess scheduler : List.of(one, two)) {
        Waiting.until(
            "both instances are known", () -> known(scheduler, load).equals(of(first, second)));
      }
      submitter.submit(one, "held-", 100, "sleep 500", System.currentTimeMillis(), 0);
      Waiting.until("they are under way", () -> load.underWay().size() > 20);
      first.terminate();

      assertThat(known(one, load)).isEqualTo(of(second));
      Waiting.until("so does the other", () -> known(two, load).equals(of(second)));
      submitter.submit(two, "late-", 20, "record", System.currentTimeMillis(), 0);
      load.awaitDrained(one);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(160);
      assertThat(accounting.repeated()).isEmpty();
    }
  }

  @Test
  void aWorkerThatIsKilledLosesNoJobAndIsForgotten() throws Exception {
    Workload load = Workload.of("killed");
    Submitter submitter = load.submitter();
    try (JavaProcess killed = worker(load).start().awaitReady();
        JavaProcess other = worker(load)) {
      submitter.submit(one, "held-", 20, "sleep 3000", System.currentTimeMillis(), 0);
      Waiting.until("they are under way", () -> load.underWay().size() == 20);
      load.fault("the process that holds them is killed", killed::kill);
      other.start().awaitReady();

      load.awaitDrained(two);
      for (JavaProcess scheduler : List.of(one, two)) {
        Waiting.until("it is forgotten", () -> known(scheduler, load).equals(of(other)));
      }
      submitter.submit(one, "late-", 20, "record", System.currentTimeMillis(), 0);
      load.awaitDrained(one);
      assertThat(load.account().accepted()).isEqualTo(40);
    }
  }

  @Test
  void aNewTaskTypeWaitsForThoseThatKnowIt() throws Exception {
    Workload load = Workload.of("types");
    Submitter newcomer = new Submitter(load.application(), "newcomer");
    try (JavaProcess old = worker(load).start().awaitReady();
        JavaProcess next = worker(load, "--worker.extra=newcomer")) {
      Waiting.until("the instance is known", () -> known(one, load).equals(of(old)));
      newcomer.submit(two, "new-", 5, "record", System.currentTimeMillis(), 0);
      Waiting.until("they wait", () -> newcomer.queue(two).get("ready").intValue() == 5);

      next.start().awaitReady();
      Waiting.until("they are done", () -> newcomer.drained(one));
      assertThat(load.begun("new-")).hasSize(5);
    }
  }

  private static Set<String> of(JavaProcess... workers) {
    Set<String> names = new TreeSet<>();
    for (JavaProcess worker : workers) {
      names.add("127.0.0.1:" + worker.port());
    }
    return names;
  }

  /** The instances of the application that a scheduler knows. */
  private static Set<String> known(JavaProcess scheduler, Workload load) throws IOException {
    Set<String> names = new TreeSet<>();
    JsonNode workers =
        Http.get(scheduler.url() + "/api/v1/workers?application=" + load.application()).json();
    workers.get("items").forEach(worker -> names.add(worker.get("instance").asString()));
    return names;
  }
}
