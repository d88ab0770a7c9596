package io.punctual.server.registry;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.QueueName;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ServedTypesTest {

  private static final QueueName QUEUE = new QueueName("shop", "order.close");

  @Test
  @SuppressWarnings("NullAway")
  void aWorkerThatAskedLongAgoGivesWayToANewOne() {
    ServedTypes types = new ServedTypes(null, null, System::nanoTime);
    List<String> workers =
        IntStream.range(0, 100).mapToObj(i -> "10.0.0.1:%d".formatted(10_000 + i)).toList();
    workers.forEach(worker -> types.pulled(List.of(QUEUE), worker));
    // The first one is at work.
    types.given(QUEUE, workers.get(0), 3);

    types.pulled(List.of(QUEUE), "a-real-one");

    assertThat(types.pullers(QUEUE))
        .hasSize(100)
        .extracting(ServedTypes.Puller::worker)
        .contains("a-real-one", workers.get(0), workers.get(2))
        .doesNotContain(workers.get(1));
  }
}
