package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Instances that are registered in a stand-in for Consul, of which no program can be had here, and
 * no Eureka.
 */
@Tag("full")
class ConsulIT extends RegistryContract {

  private static final String DISCOVERY = "--spring.cloud.consul.discovery.";

  @Override
  JavaProcess startRegistry() {
    return PROGRAMS.consul().start().awaitPort();
  }

  @Override
  void startAgain(JavaProcess registry) {
    registry.start().awaitPort();
  }

  @Override
  List<JavaProcess> schedulers(JavaProcess registry) {
    return List.of(PROGRAMS.schedulerOnConsul(registry, REDIS.port(), keyPrefix()));
  }

  @Override
  JavaProcess worker(Workload load, String... options) {
    List<String> all =
        new ArrayList<>(
            List.of(
                DISCOVERY + "heartbeat.enabled=true",
                DISCOVERY + "heartbeat.use-actuator-health=false",
                DISCOVERY + "heartbeat.ttl=6s"));
    all.addAll(List.of(options));
    return instance(load, all.toArray(String[]::new));
  }

  /**
   * An instance, not started.
   *
   * @param options also those of its check
   */
  JavaProcess instance(Workload load, String... options) {
    return PROGRAMS.workerOnConsul(registry(), load.application(), load.record(), options);
  }

  @Override
  String source() {
    return "consul";
  }

  /** Its check is one that the agent makes: that of Spring Cloud without heartbeats. */
  @Test
  @Order(6)
  void aWorkerStartsBeforeConsulAndComesBackAfterItsEntryWasRemoved() throws Exception {
    Workload load = Workload.of("before-consul");
    registry().kill();
    try (JavaProcess worker = instance(load, DISCOVERY + "health-check-interval=1s")) {
      worker.start().awaitReady();
      worker.awaitLog("Consul does not take or show the registration of this instance");

      startAgain(registry());
      load.submitter()
          .submit(started().getFirst(), "first-", 20, "record", System.currentTimeMillis(), 0);
      load.awaitDrained(started().getFirst());
      worker.awaitLog("Consul shows the registration of this instance");

      String id = load.application() + "-" + worker.port();
      assertThat(Http.put(registry().url() + "/v1/agent/service/deregister/" + id, "").status())
          .isEqualTo(200);
      worker.awaitLog("Consul had lost the registration of this instance");
      Waiting.until(
          "it came back",
          () ->
              Http.get(registry().url() + "/v1/health/service/" + load.application() + "?passing")
                  .body()
                  .contains(id));
    }
  }
}
