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
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProberTest {

  private final FakeRegistry registry = new FakeRegistry();
  private final WorkerDirectory workers =
      new WorkerDirectory(List.of(new RegistrySource("eureka", registry)), false);

  private static WorkerMetadata metadata(String... types) {
    return new WorkerMetadata(Set.of(types), "/callback", WorkerMetadata.BATCH, 10);
  }

  private static WorkerInstance instance(boolean asked, String... types) {
    return new WorkerInstance(
        "shop-1",
        "shop",
        URI.create("http://shop:8080/callback"),
        metadata(types),
        metadata(types),
        "eureka",
        asked);
  }

  @Test
  void anInstanceIsAskedAgainWhereItsRegistryDoesNotTellWhatItRuns() {
    assertThat(Prober.nextProbe(instance(false, "a"), metadata("a"), 0)).isNull();
    assertThat(Prober.nextProbe(instance(false, "a"), null, 0)).isNull();
    assertThat(Prober.nextProbe(instance(false), metadata(), 0)).isNull();
    // It runs less than is registered, and may run all of it tomorrow.
    assertThat(Prober.nextProbe(instance(false, "a", "b"), metadata("a"), 0)).hasSeconds(5);
    assertThat(Prober.nextProbe(instance(true), metadata(), 0)).hasSeconds(5);
    assertThat(Prober.nextProbe(instance(true), metadata("a"), 0)).hasSeconds(5);
  }

  @Test
  void anInstanceThatIsNotWellIsAskedLessAndLessUnlessOnlyItKnowsWhatItRuns() {
    assertThat(Prober.nextProbe(instance(false, "a"), null, 1)).hasSeconds(2);
    assertThat(Prober.nextProbe(instance(false, "a"), null, 9)).hasSeconds(30);
    assertThat(Prober.nextProbe(instance(true), null, 1)).hasSeconds(2);
    assertThat(Prober.nextProbe(instance(true), null, 9)).hasSeconds(5);
  }

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
