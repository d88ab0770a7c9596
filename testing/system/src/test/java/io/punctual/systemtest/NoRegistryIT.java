package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;

import java.util.List;
import org.junit.jupiter.api.Tag;

/** Instances that register at schedulers: at one of them, which may stand still, or at another. */
@Tag("full")
class NoRegistryIT extends RegistryContract {

  @Override
  JavaProcess startRegistry() {
    return scheduler().start().awaitReady();
  }

  @Override
  void startAgain(JavaProcess registry) {
    registry.start().awaitReady();
  }

  @Override
  List<JavaProcess> schedulers(JavaProcess registry) {
    return List.of(scheduler(), scheduler());
  }

  private JavaProcess scheduler() {
    return PROGRAMS.scheduler(
        "http://127.0.0.1:1", REDIS.port(), keyPrefix(), "--eureka.client.enabled=false");
  }

  @Override
  JavaProcess worker(Workload load, String... options) {
    return PROGRAMS.workerWithoutRegistry(
        List.of(registry(), started().getFirst()), load.application(), load.record(), options);
  }

  @Override
  String source() {
    return "scheduler";
  }
}
