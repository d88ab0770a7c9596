package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;

import java.util.List;
import org.junit.jupiter.api.Tag;

/** Instances that are registered in Eureka. */
@Tag("full")
class EurekaIT extends RegistryContract {

  @Override
  JavaProcess startRegistry() {
    return PROGRAMS.registry().start().awaitReady();
  }

  @Override
  void startAgain(JavaProcess registry) {
    registry.start().awaitReady();
  }

  @Override
  List<JavaProcess> schedulers(JavaProcess registry) {
    return List.of(PROGRAMS.scheduler(registry, REDIS.port(), keyPrefix()));
  }

  @Override
  JavaProcess worker(Workload load, String... options) {
    return load.worker(registry(), options);
  }

  @Override
  String source() {
    return "eureka";
  }
}
