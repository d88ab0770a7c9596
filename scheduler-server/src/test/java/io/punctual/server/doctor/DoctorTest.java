package io.punctual.server.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.FakeInstanceMarks;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.CallbackTargets;
import io.punctual.server.dispatch.circuit.CircuitOptions;
import io.punctual.server.registry.WorkerDirectory;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;

class DoctorTest {

  private final AtomicInteger reads = new AtomicInteger();
  private final WorkerDirectory workers =
      new WorkerDirectory(
          new DiscoveryClient() {
            @Override
            public String description() {
              return "of a test";
            }

            @Override
            public List<ServiceInstance> getInstances(String application) {
              return List.of();
            }

            @Override
            public List<String> getServices() {
              reads.incrementAndGet();
              return List.of("shop");
            }
          },
          false);

  @Test
  void instancesThatDoNotExistMakeNoCallReadTheRegistry() throws TimeoutException {
    try (HttpDispatcher dispatcher =
        new HttpDispatcher(
            "scheduler:8080",
            workers,
            Duration.ofSeconds(5),
            Duration.ofSeconds(3),
            new CircuitOptions(10, Duration.ofSeconds(5)),
            new CallbackKeys(application -> List.of(), Set.of()),
            new CallbackTargets(List.of(), true),
            null,
            new FakeInstanceMarks(System::currentTimeMillis),
            InstantSource.system())) {
      Doctor doctor = new Doctor(workers, dispatcher, new DoctorProperties(false));
      for (int i = 0; i < 1_000; i++) {
        assertThat(doctor.probe("shop", "none-" + i)).isEmpty();
      }
    }
    // Once a second at most, however many ask.
    assertThat(reads).hasValueBetween(1, 100);
  }
}
