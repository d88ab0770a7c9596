package io.punctual.demo.order;

import static io.punctual.test.PunctualAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.TaskSubmitService;
import io.punctual.test.TestScheduler;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.util.TestSocketUtils;
import org.springframework.web.context.WebApplicationContext;

/** A day of failing in milliseconds: the partner is told over real HTTP, and fails. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.DEFINED_PORT)
class PartnerTest {

  private static final String NOTIFY = "payment.notify";

  private final TestScheduler scheduler;
  private final TaskSubmitService tasks;
  private final JdbcClient db;
  private final Customer customer;

  PartnerTest(
      @Autowired TestScheduler scheduler,
      @Autowired TaskSubmitService tasks,
      @Autowired JdbcClient db,
      @Autowired WebApplicationContext context) {
    this.scheduler = scheduler;
    this.tasks = tasks;
    this.db = db;
    this.customer = new Customer(context);
  }

  @DynamicPropertySource
  static void port(DynamicPropertyRegistry registry) {
    int port = TestSocketUtils.findAvailableTcpPort();
    registry.add("server.port", () -> port);
  }

  private void partnerIs(String mode) {
    assertThat(customer.put("/partner", "{\"mode\":\"" + mode + "\"}")).hasStatusOk();
  }

  private String paid() {
    String id = customer.orders("tea");
    assertThat(customer.pays(id)).hasStatusOk();
    return id;
  }

  private int payments(String id) {
    return db.sql("select count(*) from partner_payments where order_id = :id and cents = 490")
        .param("id", id)
        .query(Integer.class)
        .single();
  }

  @Test
  void aPartnerThatAnswersIsToldAtOnceAndOnce() {
    partnerIs("UP");
    String id = paid();
    scheduler.faults().loseAnswer(NOTIFY);

    scheduler.advance(Duration.ofMinutes(5));

    // Told twice, since the first answer was lost; the partner knows by the key that it is the
    // same.
    assertThat(scheduler).of(NOTIFY).job(id).isDone().wasAttempted(2);
    assertThat(payments(id)).isOne();
    assertThat(customer.sees(id, "notifiedAt")).isNotNull();
  }

  @Test
  void aPartnerThatFailsNowAndThenIsToldAgainAtOnce() {
    partnerIs("FLAKY");
    String one = paid();
    String other = paid();

    scheduler.runDue();

    assertThat(scheduler).of(NOTIFY).hasNone();
    assertThat(payments(one) + payments(other)).isEqualTo(2);
    assertThat(
            (int) customer.sees(one, "notifyAttempts")
                + (int) customer.sees(other, "notifyAttempts"))
        .isGreaterThan(2);
  }

  @Test
  void aPartnerThatIsAwayIsToldOnTheLadderForADayAndThenByHand() {
    partnerIs("DOWN");
    String id = paid();

    scheduler.runDue();
    assertThat(customer.sees(id, "notifyAttempts")).isEqualTo(3);
    assertThat(scheduler).of(NOTIFY).hasOne().dueIn(Duration.ofMinutes(2));
    scheduler.advance(Duration.ofHours(25));
    assertThat(scheduler).of(NOTIFY).job(id).isDead().wasAttempted(10).failedWith("503");
    partnerIs("UP");
    assertThat(scheduler.requeue(NOTIFY, id)).isTrue();
    scheduler.runDue();

    assertThat(scheduler).of(NOTIFY).job(id).isDone();
    assertThat(payments(id)).isOne();
  }

  @Test
  void whatThePartnerRefusesIsADeadLetterAtOnce() {
    partnerIs("UP");
    tasks.job(NOTIFY, new OrderJobs.Payment("none", 0)).id("none").in(Duration.ZERO).send();

    scheduler.advance(Duration.ofDays(2));

    assertThat(scheduler).of(NOTIFY).job("none").isDead().wasAttempted(1).failedWith("refuses");
  }

  @Test
  void aPaymentWhileNoSchedulerIsThereIsToldWhenOneIs() {
    partnerIs("UP");
    String id = customer.orders("tea");
    scheduler.faults().schedulerAway();
    assertThat(customer.pays(id)).hasStatusOk();
    scheduler.runDue();
    assertThat(payments(id)).isZero();

    scheduler.faults().schedulerBack();
    scheduler.runDue();

    assertThat(payments(id)).isOne();
  }
}
