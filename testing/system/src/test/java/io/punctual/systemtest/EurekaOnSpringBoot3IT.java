package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;

import org.junit.jupiter.api.Tag;

/** Instances on Spring Boot 3.5 that are registered in Eureka. */
@Tag("full")
@Tag("variant")
class EurekaOnSpringBoot3IT extends EurekaIT {

  @Override
  JavaProcess worker(Workload load, String... options) {
    return PROGRAMS.workerOf(
        "worker-boot35",
        RegistryClient.EUREKA,
        registry(),
        load.application(),
        load.record(),
        options);
  }
}
