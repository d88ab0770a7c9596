package io.punctual.server.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.core.job.QueueName;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.dispatch.TestDispatchers;
import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.RawWorker;
import io.punctual.server.problem.ApiException;
import io.punctual.server.registry.FakeRegistry;
import io.punctual.server.registry.RegistrySource;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.cloud.client.DefaultServiceInstance;

class ProberTest {

  private static final String MASTER = "q8ZJ1n0LrXv4TtYw7uKcB2sM";

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
    assertThat(Prober.nextProbe(instance(false, "a"), metadata("a"), true, 0)).isNull();
    assertThat(Prober.nextProbe(instance(false, "a"), null, true, 0)).isNull();
    assertThat(Prober.nextProbe(instance(false), metadata(), true, 0)).isNull();
    // It runs less than is registered, and may run all of it tomorrow.
    assertThat(Prober.nextProbe(instance(false, "a", "b"), metadata("a"), true, 0)).hasSeconds(5);
    assertThat(Prober.nextProbe(instance(true), metadata(), true, 0)).hasSeconds(5);
    assertThat(Prober.nextProbe(instance(true), metadata("a"), true, 0)).hasSeconds(5);
  }

  @Test
  void anInstanceThatIsNotWellIsAskedLessAndLessUnlessOnlyItKnowsWhatItRuns() {
    assertThat(Prober.nextProbe(instance(false, "a"), null, true, 1)).hasSeconds(2);
    assertThat(Prober.nextProbe(instance(false, "a"), null, true, 9)).hasSeconds(30);
    assertThat(Prober.nextProbe(instance(true), null, true, 1)).hasSeconds(2);
    assertThat(Prober.nextProbe(instance(true), null, true, 9)).hasSeconds(5);
  }

  @Test
  void anInstanceWithoutProofIsAskedSoonAndOften() {
    List<Duration> pauses =
        IntStream.of(1, 2, 3, 4, 5, 9)
            .mapToObj(failures -> Prober.nextProbe(instance(false, "a"), null, false, failures))
            .toList();
    assertThat(pauses)
        .extracting(Duration::toMillis)
        .containsExactly(500L, 1000L, 2000L, 4000L, 5000L, 5000L);
    assertThat(Prober.nextProbe(instance(false, "a"), metadata("a"), false, 0)).hasSeconds(5);
  }

  @Test
  void anInstanceThatJobsWaitForIsAskedAtOnceAndOnceAtATime() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    AtomicInteger pings = new AtomicInteger();
    try (RawWorker silent =
            new RawWorker(
                (request, out) -> {
                  pings.incrementAndGet();
                  over.await();
                  return false;
                });
        HttpDispatcher dispatcher =
            TestDispatchers.of(
                workers,
                new CallbackKeys(
                    application -> List.of(CallbackSignature.Key.derived(MASTER, application)),
                    Set.of()))) {
      registry.set(
          "shop",
          new DefaultServiceInstance(
              "worker-0",
              "shop",
              "127.0.0.1",
              silent.uri().getPort(),
              false,
              Map.of(
                  "punctual.task-types", "a",
                  "punctual.callback-path", "/callback",
                  "punctual.protocol", WorkerMetadata.BATCH)));
      Prober prober = new Prober(workers, dispatcher);
      prober.start();
      try {
        assertThat(dispatcher.capacity(new QueueName("shop", "a"))).isZero();
        // Before the next round.
        assertThat(prober.workers("shop")).hasSize(1);
        Awaitility.await().until(() -> pings.get() == 1);

        dispatcher.registryChanged();
        Awaitility.await().until(() -> registry.reads() > 1);
        assertThat(pings).hasValue(1);
      } finally {
        over.countDown();
        prober.stop();
      }
    }
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
