package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;

import java.util.List;
import org.junit.jupiter.api.Tag;

/** Instances that are registered in Nacos, a real server, and no Eureka. */
@Tag("full")
class NacosIT extends RegistryContract {

  @Override
  JavaProcess startRegistry() {
    return PROGRAMS.nacos().start().awaitLog("Nacos started successfully");
  }

  /** Does not wait: the next instance starts before Nacos, and is registered all the same. */
  @Override
  void startAgain(JavaProcess registry) {
    registry.start();
  }

  @Override
  List<JavaProcess> schedulers(JavaProcess registry) {
    return List.of(PROGRAMS.schedulerOnNacos(registry, REDIS.port(), keyPrefix()));
  }

  @Override
  JavaProcess worker(Workload load, String... options) {
    return PROGRAMS.workerOnNacos(registry(), load.application(), load.record(), options);
  }

  @Override
  String source() {
    return "nacos";
  }
}
