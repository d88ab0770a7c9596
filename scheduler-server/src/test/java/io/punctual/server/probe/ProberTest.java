package io.punctual.server.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.dispatch.TestDispatchers;
import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.problem.ApiException;
import io.punctual.server.registry.FakeRegistry;
import io.punctual.server.registry.RegistrySource;
import io.punctual.server.registry.WorkerDirectory;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProberTest {

  private final FakeRegistry registry = new FakeRegistry();
  private final WorkerDirectory workers =
      new WorkerDirectory(List.of(new RegistrySource("eureka", registry)), false);

  @Test
  void instancesThatDoNotExistMakeNoCallReadTheRegistry() {
    registry.set("shop");
    try (HttpDispatcher dispatcher =
        TestDispatchers.of(workers, new CallbackKeys(application -> List.of(), Set.of()))) {
      Prober prober = new Prober(workers, dispatcher);
      for (int i = 0; i < 1_000; i++) {
        String name = "none-" + i;
        assertThatThrownBy(() -> prober.probe("shop", name))
            .isInstanceOfSatisfying(ApiException.class, e -> assertThat(e.status()).isEqualTo(404));
      }
    }
    // Once a second at most, however many ask.
    assertThat(registry.reads()).isBetween(1, 100);
  }
}
