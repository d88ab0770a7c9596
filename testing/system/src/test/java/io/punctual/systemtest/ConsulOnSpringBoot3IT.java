package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;

import org.junit.jupiter.api.Tag;

/** Instances on Spring Boot 3.5 that are registered in the stand-in for Consul. */
@Tag("full")
@Tag("variant")
class ConsulOnSpringBoot3IT extends ConsulIT {

  @Override
  JavaProcess instance(Workload load, String... options) {
    return PROGRAMS.workerOf(
        "worker-boot35",
        RegistryClient.CONSUL,
        registry(),
        load.application(),
        load.record(),
        options);
  }
}
