package io.punctual.demo.order;

import static io.punctual.test.PunctualAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.test.TestScheduler;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpStatus;
import org.springframework.web.context.WebApplicationContext;

/** Half an hour in milliseconds: the whole shop, with the scheduler in memory. */
@SpringBootTest
class UnpaidOrderTest {

  private static final String CLOSE = "order.close";
  private static final String REMIND = "order.remind";

  private final TestScheduler scheduler;
  private final Customer customer;

  UnpaidOrderTest(@Autowired TestScheduler scheduler, @Autowired WebApplicationContext context) {
    this.scheduler = scheduler;
    this.customer = new Customer(context);
  }

  @Test
  void anOrderThatNobodyPaysClosesItselfAndGoesBackOnSale() {
    int left = customer.left("teapot");
    String id = customer.orders("teapot");
    assertThat(scheduler)
        .of(CLOSE)
        .hasOne()
        .dueIn(Duration.ofMinutes(30))
        .withParams("{\"id\":\"" + id + "\"}")
        .withTags("order:" + id);
    assertThat(customer.left("teapot")).isEqualTo(left - 1);

    scheduler.advance(Duration.ofMinutes(29));
    assertThat(customer.sees(id, "status")).isEqualTo("OPEN");

    scheduler.advance(Duration.ofMinutes(1));
    assertThat(customer.sees(id, "status")).isEqualTo("CLOSED");
    assertThat(customer.sees(id, "endedAt")).isEqualTo(customer.sees(id, "payUntil"));
    assertThat(scheduler).of(CLOSE).job(id).isDone().wasAttempted(1);
    assertThat(customer.left("teapot")).isEqualTo(left);
  }

  @Test
  void itsCustomerIsRemindedTenMinutesBefore() {
    String id = customer.orders("tea");
    assertThat(scheduler).of(REMIND).hasOne().dueIn(Duration.ofMinutes(20));

    scheduler.advance(Duration.ofMinutes(20));

    assertThat(customer.sees(id, "remindedAt")).isEqualTo(customer.sees(id, "remindAt"));
    assertThat(customer.sees(id, "status")).isEqualTo("OPEN");
  }

  @Test
  void anOrderThatIsPaidStaysPaidAndIsNotRemindedOf() {
    String id = customer.orders("tea");
    scheduler.advance(Duration.ofMinutes(19));

    assertThat(customer.pays(id)).hasStatusOk();
    assertThat(customer.pays(id)).hasStatusOk();
    assertThat(scheduler).of(CLOSE).hasNone();
    assertThat(scheduler).of(REMIND).hasNone();

    scheduler.advance(Duration.ofHours(1));
    assertThat(customer.sees(id, "status")).isEqualTo("PAID");
    assertThat(customer.sees(id, "remindedAt")).isNull();
  }

  @Test
  void closingMayComeTwiceAndGivesBackOnce() {
    int left = customer.left("teapot");
    String id = customer.orders("teapot");
    scheduler.faults().loseAnswer(CLOSE).deliverTwice(REMIND);

    scheduler.advance(Duration.ofMinutes(30));
    Object endedAt = customer.sees(id, "endedAt");
    scheduler.advance(Duration.ofMinutes(1));

    assertThat(scheduler).of(CLOSE).job(id).isDone().wasAttempted(2);
    assertThat(customer.sees(id, "endedAt")).isEqualTo(endedAt);
    assertThat(customer.left("teapot")).isEqualTo(left);
  }

  @Test
  void whoPaysTooLateIsToldSo() {
    String id = customer.orders("tea");
    scheduler.advance(Duration.ofMinutes(30));

    assertThat(customer.pays(id)).hasStatus(HttpStatus.CONFLICT);
    assertThat(Customer.detail(customer.pays(id))).contains("was closed at");
    assertThat(customer.sees(id, "status")).isEqualTo("CLOSED");
  }

  @Test
  void whatIsSoldOutIsNeitherOrderedNorHasAJob() {
    int left = customer.left("teapot");
    for (int i = 0; i < left; i++) {
      assertThat(customer.orders("teapot")).isNotEmpty();
    }

    assertThat(customer.post("/orders", "{\"item\":\"teapot\"}")).hasStatus(HttpStatus.CONFLICT);

    assertThat(scheduler).of(CLOSE).hasSize(left);
    scheduler.advance(Duration.ofMinutes(30));
    assertThat(customer.left("teapot")).isEqualTo(left);
  }

  @Test
  void anOrderTakenWhileNoSchedulerIsThereClosesInTime() {
    scheduler.faults().schedulerAway();
    String id = customer.orders("tea");
    scheduler.advance(Duration.ofMinutes(15));
    assertThat(scheduler).of(CLOSE).hasNone();

    scheduler.faults().schedulerBack();
    scheduler.runDue();

    assertThat(scheduler).of(REMIND).job(id).isWaiting().dueIn(Duration.ofMinutes(5));
    assertThat(scheduler).of(CLOSE).job(id).isWaiting().dueIn(Duration.ofMinutes(15));
    scheduler.advance(Duration.ofMinutes(15));
    assertThat(customer.sees(id, "endedAt")).isEqualTo(customer.sees(id, "payUntil"));
  }

  @Test
  void oneThatIsPaidMeanwhileStaysPaid() {
    scheduler.faults().schedulerAway();
    String id = customer.orders("tea");
    assertThat(customer.pays(id)).hasStatusOk();

    scheduler.faults().schedulerBack();
    scheduler.runDue();

    assertThat(scheduler).of(CLOSE).job(id).isCancelled();
    assertThat(scheduler).of(REMIND).job(id).isCancelled();
    assertThat(customer.sees(id, "status")).isEqualTo("PAID");
  }
}
