package io.punctual.server.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ProbeStateTest {

  private final Prober.ProbeState state =
      new Prober.ProbeState(
          new WorkerInstance(
              "worker-0",
              "shop",
              URI.create("http://worker-0/callback"),
              new WorkerMetadata(Set.of("job"), "/callback", WorkerMetadata.BATCH, 10),
              "eureka"),
          0);

  @Test
  void oneThatIsAvoidedWhileItIsProbedIsProbedAgain() {
    assertThat(state.isDue(0, false)).isTrue();
    state.running = new Prober.Probe(() -> {}, new CompletableFuture<>());
    assertThat(state.isDue(1, true)).isFalse();

    // The probe found nothing wrong.
    state.running = null;
    state.dueAt = null;

    assertThat(state.isDue(2, true)).isTrue();
    assertThat(state.isDue(3, true)).as("known by now").isFalse();
  }
}
