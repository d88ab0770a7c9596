package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.QueueName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class NaturalOrderTest {

  @Test
  void numbersInNamesAreOrderedByTheirValue() {
    List<String> names =
        List.of(
            "",
            "01",
            "1",
            "2",
            "10",
            "99999999999999999999",
            "100000000000000000000",
            "shop",
            "shop-2",
            "shop-2.1",
            "shop-02.1a",
            "shop-2.10",
            "shop-10",
            "shop-a");
    List<String> found = new ArrayList<>(names);
    Collections.reverse(found);
    found.sort(NaturalOrder.NAMES);
    assertThat(found).isEqualTo(names);
  }

  @Test
  void queuesAreOrderedByApplicationFirst() {
    List<QueueName> queues =
        new ArrayList<>(
            List.of(
                new QueueName("shop-2", "a"),
                new QueueName("shop", "night.11"),
                new QueueName("shop", "night.9")));
    queues.sort(NaturalOrder.QUEUES);
    assertThat(queues)
        .extracting(QueueName::toString)
        .containsExactly("shop/night.9", "shop/night.11", "shop-2/a");
  }
}
