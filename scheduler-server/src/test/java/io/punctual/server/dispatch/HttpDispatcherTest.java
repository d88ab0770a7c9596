package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.QueueName;
import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.RawWorker;
import io.punctual.server.registry.FakeRegistry;
import io.punctual.server.registry.RegistrySource;
import io.punctual.server.registry.WorkerDirectory;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.cloud.client.DefaultServiceInstance;

/** What a dispatcher holds for queues and instances, and for how long. */
class HttpDispatcherTest {

  private static final QueueName QUEUE = FakeDelivery.QUEUE;

  private final FakeRegistry registry = new FakeRegistry();
  private final WorkerDirectory workers =
      new WorkerDirectory(List.of(new RegistrySource("eureka", registry)), false);
  private final CallbackKeys keys = new CallbackKeys(application -> List.of(), Set.of());
  private final List<QueueName> told = new CopyOnWriteArrayList<>();
  private final HttpDispatcher dispatcher = TestDispatchers.of(workers, keys);

  @BeforeEach
  void listen() {
    dispatcher.onCapacity(told::add);
  }

  @AfterEach
  void close() {
    dispatcher.close();
  }

  private void register(RawWorker worker) {
    registry.set(
        QUEUE.application(),
        new DefaultServiceInstance(
            "worker-0",
            QUEUE.application(),
            "127.0.0.1",
            worker.uri().getPort(),
            false,
            Map.of(
                "punctual.task-types", QUEUE.taskType(), "punctual.callback-path", "/callback")));
    refresh();
  }

  private void refresh() {
    workers.refresh();
    dispatcher.registryChanged();
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().atMost(Duration.ofSeconds(20));
  }

  @Test
  void toAskWhetherAQueueHasCapacityPutsItOnNoList() throws IOException {
    assertThat(dispatcher.hasCapacity(QUEUE)).isFalse();
    assertThat(dispatcher.hasCapacity(QUEUE)).isFalse();
    try (RawWorker worker = RawWorker.saying("")) {
      register(worker);
      assertThat(told).isEmpty();
      assertThat(dispatcher.hasCapacity(QUEUE)).isTrue();
      assertThat(dispatcher.inMemory().instances()).isZero();

      registry.set(QUEUE.application());
      workers.refresh();
      assertThat(dispatcher.capacity(QUEUE)).isZero();
      register(worker);
      assertThat(told).containsExactly(QUEUE);
    }
  }

  @Test
  void whatLeftTheRegistryIsForgotten() throws IOException {
    CountDownLatch over = new CountDownLatch(1);
    List<FakeDelivery> jobs =
        IntStream.range(0, Responsiveness.TIMES_OVER)
            .mapToObj(i -> new FakeDelivery("job-" + i, Duration.ofMillis(200)))
            .toList();
    try (RawWorker silent =
        new RawWorker(
            (request, out) -> {
              over.await();
              return false;
            })) {
      register(silent);
      dispatcher.dispatch(QUEUE, List.copyOf(jobs));
      eventually().until(() -> dispatcher.inMemory().inFlight() == 0);
      assertThat(jobs)
          .allSatisfy(job -> assertThat(job.told().get(0)).contains("worker-0, TIME_OVER"));
      refresh();
      assertThat(dispatcher.inMemory().instances()).isOne();
      assertThat(dispatcher.inMemory().hanging()).isOne();
      assertThat(keys.size()).isOne();

      registry.set(QUEUE.application());
      refresh();

      assertThat(dispatcher.inMemory().instances()).isZero();
      assertThat(dispatcher.inMemory().hanging()).isZero();
      assertThat(keys.size()).isZero();
      over.countDown();
    }
  }

  @Test
  void itsConnectionsAreClosedWithIt() throws IOException {
    List<FakeDelivery> jobs = List.of(new FakeDelivery("a"), new FakeDelivery("b"));
    try (RawWorker worker = RawWorker.saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) {
      register(worker);
      for (FakeDelivery job : jobs) {
        dispatcher.dispatch(QUEUE, List.of(job));
        eventually().until(() -> job.told().equals(List.of("done")));
        eventually().until(() -> dispatcher.inMemory().inFlight() == 0);
      }
      assertThat(worker.connections()).as("kept for the next job").isOne();
      assertThat(worker.open()).isOne();

      dispatcher.close();

      eventually().until(() -> worker.open() == 0);
    }
  }
}
