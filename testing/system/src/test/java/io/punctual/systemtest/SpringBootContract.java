package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Applications on another Spring Boot than that of this build: pushed to and pulling. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SpringBootContract {

  private static final String[] PULL = {"--punctual.delivery=pull", "--worker.pull-lease=3s"};

  private final String module;
  private JavaProcess scheduler;

  /**
   * @param module which has the libraries of the applications
   */
  SpringBootContract(String module) {
    this.module = module;
  }

  @BeforeAll
  final void start() {
    scheduler =
        PROGRAMS
            .scheduler(REGISTRY, REDIS.port(), module, "--spring.application.name=" + module)
            .start()
            .awaitReady();
  }

  @AfterAll
  final void stop() {
    scheduler.close();
  }

  private JavaProcess inEureka(Workload load, String... options) {
    return PROGRAMS.workerOf(
        module,
        RegistryClient.EUREKA,
        REGISTRY,
        load.application(),
        load.record(),
        // The registry has schedulers of other tests, too.
        Stream.concat(Stream.of("--punctual.service-id=" + module), Stream.of(options))
            .toArray(String[]::new));
  }

  private JavaProcess withoutRegistry(Workload load, String... options) {
    return PROGRAMS.workerOf(
        module, List.of(scheduler), load.application(), load.record(), options);
  }

  @Test
  void instancesInEurekaAreCalledAndOneThatIsKilledLosesNoJob() throws Exception {
    Workload load = Workload.of("pushed");
    try (JavaProcess killed = inEureka(load).start();
        JavaProcess other = inEureka(load)) {
      assertThatJobsRun(load);
      assertThatAKillLosesNoJob(load, killed, other);
    }
  }

  @Test
  void instancesWithoutARegistryPullAndOneThatIsKilledLosesNoJob() throws Exception {
    Workload load = Workload.of("pulling");
    try (JavaProcess killed = withoutRegistry(load, PULL).start();
        JavaProcess other = withoutRegistry(load, PULL)) {
      assertThatJobsRun(load);
      assertThatAKillLosesNoJob(load, killed, other);
    }
  }

  @Test
  void anInstanceWithoutARegistryIsCalled() throws Exception {
    Workload load = Workload.of("pushed");
    try (JavaProcess instance = withoutRegistry(load)) {
      instance.start();
      assertThatJobsRun(load);
    }
  }

  @Test
  void anInstanceInEurekaPulls() throws Exception {
    Workload load = Workload.of("pulling");
    try (JavaProcess instance = inEureka(load, PULL)) {
      instance.start();
      assertThatJobsRun(load);
    }
  }

  /** One of them fails at first. */
  private void assertThatJobsRun(Workload load) throws Exception {
    long now = System.currentTimeMillis();
    load.submitter().submit(scheduler, "early-", 20, "record", now, 0);
    assertThat(load.submitter().submitOne(scheduler, "fails", "fail 1", now, "0s,100ms")).isTrue();
    load.awaitDrained(scheduler);
    assertThat(load.executions()).filteredOn(run -> run.taskId().equals("fails")).hasSize(2);
    assertThat(load.account().accepted()).isEqualTo(21);
  }

  private void assertThatAKillLosesNoJob(Workload load, JavaProcess killed, JavaProcess other)
      throws Exception {
    long now = System.currentTimeMillis();
    load.submitter().submit(scheduler, "held-", 20, "sleep 2000", now, 0);
    Waiting.until("they are under way", () -> load.underWay().size() == 20);
    load.fault("the process that holds them is killed", killed::kill);
    other.start();
    load.awaitDrained(scheduler);
    assertThat(RegistryContract.processes(load, "held-"))
        .containsExactlyInAnyOrder(killed.pid(), other.pid());
    assertThat(load.account().accepted()).isEqualTo(41);
  }
}
