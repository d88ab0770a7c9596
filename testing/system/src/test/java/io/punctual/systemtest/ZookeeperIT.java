package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Instances that are registered in ZooKeeper, and no Eureka. */
@Tag("full")
class ZookeeperIT extends RegistryContract {

  @Override
  JavaProcess startRegistry() {
    return PROGRAMS.zookeeper().start().awaitPort();
  }

  @Override
  void startAgain(JavaProcess registry) {
    registry.start().awaitPort();
  }

  @Override
  List<JavaProcess> schedulers(JavaProcess registry) {
    return List.of(PROGRAMS.schedulerOnZookeeper(registry, REDIS.port(), keyPrefix()));
  }

  @Override
  JavaProcess worker(Workload load, String... options) {
    return worker(registry(), load, options);
  }

  /** An instance that is registered in that ZooKeeper. */
  JavaProcess worker(JavaProcess zookeeper, Workload load, String... options) {
    return PROGRAMS.workerOnZookeeper(zookeeper, load.application(), load.record(), options);
  }

  @Override
  String source() {
    return "zookeeper";
  }

  @Test
  @Order(6)
  void programsStartBeforeZooKeeperAndComeBackAfterItWasEmptied() throws Exception {
    Workload one = Workload.of("in-eureka");
    Workload other = Workload.of("in-zookeeper");
    try (JavaProcess zookeeper = PROGRAMS.zookeeper();
        JavaProcess scheduler =
            PROGRAMS.scheduler(
                REGISTRY,
                REDIS.port(),
                keyPrefix() + "-in-both",
                "--spring.cloud.zookeeper.enabled=true",
                "--spring.cloud.zookeeper.connect-string=127.0.0.1:" + zookeeper.port(),
                "--spring.cloud.zookeeper.discovery.instance-host=127.0.0.1");
        JavaProcess inEureka = one.worker(REGISTRY);
        JavaProcess inZookeeper =
            worker(zookeeper, other, "--spring.cloud.zookeeper.block-until-connected-wait=1")) {
      scheduler.start();
      inEureka.start();
      inZookeeper.start();
      scheduler.awaitReady();
      inEureka.awaitReady();
      // The scheduler reads Eureka meanwhile.
      one.submitter().submit(scheduler, "one-", 20, "record", System.currentTimeMillis(), 0);
      one.awaitDrained(scheduler);
      assertThat(processes(one, "one-")).containsExactly(inEureka.pid());

      assertThat(Http.get(scheduler.url() + "/api/v1/doctor").body())
          .contains("Nothing came from the registry at ZooKeeper 127.0.0.1:" + zookeeper.port())
          .contains("spring.cloud.zookeeper.connect-string");
      inZookeeper.awaitReady();
      inZookeeper.awaitLog("ZooKeeper does not take or show the registration of this instance");

      zookeeper.start().awaitPort();
      other.submitter().submit(scheduler, "other-", 20, "record", System.currentTimeMillis(), 0);
      other.awaitDrained(scheduler);
      assertThat(processes(other, "other-")).containsExactly(inZookeeper.pid());
      inZookeeper.awaitLog("ZooKeeper shows the registration of this instance");
      scheduler.awaitLog("ZooKeeper shows the registration of this scheduler");
      // It found the scheduler there, which is registered by now.
      inZookeeper.awaitLog("a scheduler reaches this instance at " + inZookeeper.url());

      ZooKeeper client = new ZooKeeper("127.0.0.1:" + zookeeper.port(), 6_000, event -> {});
      try {
        ZKUtil.deleteRecursive(client, "/services");
        inZookeeper.awaitLog("ZooKeeper had lost the registration of this instance");
        scheduler.awaitLog("ZooKeeper had lost the registration of this scheduler");
        for (String name : List.of("punctual-scheduler", other.application())) {
          Waiting.until(
              name + " came back",
              () -> client.getChildren("/services/" + name, false).size() == 1);
        }
        other.submitter().submit(scheduler, "back-", 20, "record", System.currentTimeMillis(), 0);
        other.awaitDrained(scheduler);

        // It leaves ZooKeeper before it waits for the jobs that it sent.
        other
            .submitter()
            .submit(scheduler, "held-", 1, "sleep 8000", System.currentTimeMillis(), 0);
        Waiting.until("it is under way", () -> other.underWay().size() == 1);
        Thread stop = Thread.ofVirtual().start(scheduler::terminate);
        Waiting.until(
            "it has left",
            () -> client.getChildren("/services/punctual-scheduler", false).isEmpty());
        assertThat(other.underWay()).hasSize(1);
        stop.join();
      } finally {
        client.close();
      }
    }
  }
}
