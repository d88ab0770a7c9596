package io.punctual.test.docs;

import static io.punctual.test.PunctualAssertions.assertThat;

import io.punctual.TaskSubmitService;
import io.punctual.test.TestScheduler;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;

/** Stands in docs/test-kit.md. */
@SpringBootTest(classes = OutboxTest.Shop.class, properties = "punctual.outbox.enabled=true")
class OutboxTest {

  @Configuration
  @EnableAutoConfiguration
  @Import(Orders.class)
  static class Shop {}

  static class Orders {

    private final TaskSubmitService tasks;

    Orders(TaskSubmitService tasks) {
      this.tasks = tasks;
    }

    @Transactional
    public void place(String id) {
      tasks.job("order.close", id).id(id).in(Duration.ofMinutes(30)).send();
    }
  }

  @Autowired TestScheduler scheduler;
  @Autowired Orders orders;

  @Test
  void anOrderTakenWhileNoSchedulerIsThereClosesToo() {
    scheduler.faults().schedulerAway();
    orders.place("1003");
    assertThat(scheduler).of("order.close").hasNone();

    scheduler.faults().schedulerBack();
    scheduler.runDue();

    assertThat(scheduler).of("order.close").hasOne().dueIn(Duration.ofMinutes(30));
  }
}
