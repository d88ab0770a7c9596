package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;

import org.junit.jupiter.api.Tag;

/** Instances on Spring Boot 3.5 that are registered in ZooKeeper. */
@Tag("full")
@Tag("variant")
class ZookeeperOnSpringBoot3IT extends ZookeeperIT {

  @Override
  JavaProcess worker(JavaProcess zookeeper, Workload load, String... options) {
    return PROGRAMS.workerOf(
        "worker-boot35",
        RegistryClient.ZOOKEEPER,
        zookeeper,
        load.application(),
        load.record(),
        options);
  }
}
