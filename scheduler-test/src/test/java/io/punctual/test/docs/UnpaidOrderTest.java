package io.punctual.test.docs;

import static io.punctual.test.PunctualAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.SchedulerUnavailableException;
import io.punctual.test.TestScheduler;
import io.punctual.test.docs.Shop.Orders;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** Stands in docs/test-kit.md. */
@SpringBootTest
class UnpaidOrderTest {

  @Autowired TestScheduler scheduler;
  @Autowired Orders orders;

  @Test
  void anOrderThatNobodyPaysClosesItself() {
    orders.place("1001");
    assertThat(scheduler).of("order.close").hasOne().dueIn(Duration.ofMinutes(30));

    scheduler.advance(Duration.ofMinutes(30));

    assertThat(orders.isClosed("1001")).isTrue();
    assertThat(scheduler).of("order.close").job("1001").isDone();
  }

  @Test
  void closingMayComeTwice() {
    orders.place("1002");
    scheduler.faults().loseAnswer("order.close");

    scheduler.advance(Duration.ofMinutes(31));

    assertThat(scheduler).of("order.close").job("1002").isDone().wasAttempted(2);
  }

  @Test
  void withoutASchedulerNoOrderIsTaken() {
    scheduler.faults().schedulerAway();

    assertThatThrownBy(() -> orders.place("1003"))
        .isInstanceOf(SchedulerUnavailableException.class);
  }
}
