package io.punctual.test.docs;

import io.punctual.DelayQueueJob;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import java.time.Clock;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** The application of the examples in docs/test-kit.md. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({Shop.Orders.class, Shop.CloseUnpaidOrder.class})
class Shop {

  @Bean
  Clock clock() {
    return Clock.systemUTC();
  }

  static class Orders {

    private final Set<String> closed = new HashSet<>();
    private final TaskSubmitService tasks;

    Orders(TaskSubmitService tasks) {
      this.tasks = tasks;
    }

    void place(String id) {
      tasks.send(
          DelayQueueJob.of("order.close")
              .taskId(id)
              .params(id)
              .delay(Duration.ofMinutes(30))
              .build());
    }

    void close(String id) {
      closed.add(id);
    }

    boolean isClosed(String id) {
      return closed.contains(id);
    }
  }

  static class CloseUnpaidOrder implements TaskWorker {

    private final Orders orders;

    CloseUnpaidOrder(Orders orders) {
      this.orders = orders;
    }

    @Override
    public String type() {
      return "order.close";
    }

    @Override
    public void invoke(String params) {
      orders.close(params);
    }
  }
}
