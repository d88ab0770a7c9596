package io.punctual.test.spring;

import static io.punctual.test.PunctualAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayedTask;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import io.punctual.spring.CommitFailures;
import io.punctual.spring.outbox.Outbox;
import io.punctual.spring.outbox.OutboxRelay;
import io.punctual.test.TestScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.TestConstructor;
import org.springframework.transaction.support.TransactionTemplate;

/** What an application with an outbox and with workers that take effect once sees in its tests. */
@SpringBootTest(
    classes = OutboxAndOnceTest.Bank.class,
    webEnvironment = WebEnvironment.NONE,
    properties = {
      "spring.application.name=bank",
      "spring.datasource.url=jdbc:h2:mem:outbox-and-once",
      "punctual.outbox.enabled=true"
    })
@TestConstructor(autowireMode = TestConstructor.AutowireMode.ALL)
class OutboxAndOnceTest {

  /** Calls that failed behind a commit. */
  static class Noted implements CommitFailures {

    final List<Call> calls = new ArrayList<>();

    @Override
    public void failed(Call call, @Nullable Throwable error) {
      calls.add(call);
    }
  }

  @Configuration
  @EnableAutoConfiguration
  static class Bank {

    Runnable midway = () -> {};

    private final JdbcClient db;
    private final TaskSubmitService tasks;

    Bank(JdbcClient db, TaskSubmitService tasks) {
      this.db = db;
      this.tasks = tasks;
    }

    @Bean
    static Noted noted() {
      return new Noted();
    }

    /** Adds a hundred, and tells of it, which is not repeatable at all. */
    @DelayedTask(type = "points.add", once = "database")
    void add(String customer) {
      db.sql("update points set points = points + 100").update();
      midway.run();
      tasks.job("points.tell", customer).id(customer).in(Duration.ofHours(1)).send();
    }
  }

  private final TestScheduler scheduler;
  private final TaskSubmitService tasks;
  private final TransactionTemplate transaction;
  private final JdbcClient db;
  private final Outbox outbox;
  private final Bank bank;
  private final Noted failures;
  private final ApplicationContext context;

  OutboxAndOnceTest(
      TestScheduler scheduler,
      TaskSubmitService tasks,
      TransactionTemplate transaction,
      JdbcClient db,
      Outbox outbox,
      Bank bank,
      Noted failures,
      ApplicationContext context) {
    this.scheduler = scheduler;
    this.tasks = tasks;
    this.transaction = transaction;
    this.db = db;
    this.outbox = outbox;
    this.bank = bank;
    this.failures = failures;
    this.context = context;
  }

  @BeforeEach
  void begin() {
    db.sql("create table if not exists points (points int)").update();
    db.sql("delete from points").update();
    db.sql("insert into points values (0)").update();
    failures.calls.clear();
    bank.midway = () -> {};
  }

  private int points() {
    return db.sql("select points from points").query(Integer.class).single();
  }

  private void sendInTransaction(String type, String id, Duration delay) {
    transaction.executeWithoutResult(
        status ->
            assertThat(tasks.job(type, "").id(id).in(delay).send().outcome())
                .isEqualTo(SubmitResult.Outcome.ON_COMMIT));
  }

  @Test
  void whatIsCommittedIsThereWhenTheCommitReturns() {
    transaction.executeWithoutResult(
        status -> {
          var sent = tasks.job("mail", "").id("1").in(Duration.ofMinutes(1)).send();
          assertThat(sent.outcome()).isEqualTo(SubmitResult.Outcome.ON_COMMIT);
          assertThat(outbox.status().waiting()).isOne();
          assertThat(scheduler).of("mail").hasNone();
        });

    assertThat(scheduler).of("mail").hasOne().dueIn(Duration.ofMinutes(1));
    assertThat(outbox.status().waiting()).isZero();
  }

  @Test
  void whatIsRolledBackIsNeverSent() {
    transaction.executeWithoutResult(
        status -> {
          tasks.send("mail", "", Duration.ZERO);
          status.setRollbackOnly();
        });
    scheduler.runDue();

    assertThat(scheduler).of("mail").hasNone();
    assertThat(outbox.status().waiting()).isZero();
  }

  @Test
  void whileNoSchedulerIsThereItWaitsInTheTable() {
    scheduler.faults().schedulerAway();
    sendInTransaction("mail", "1", Duration.ofMinutes(1));
    scheduler.advance(Duration.ofHours(1));
    assertThat(outbox.status().waiting()).isOne();

    scheduler.faults().schedulerBack();
    assertThat(scheduler).of("mail").hasNone();
    scheduler.runDue();

    assertThat(scheduler).of("mail").job("1").isWaiting().dueIn(Duration.ofMinutes(1));
    assertThat(outbox.status().waiting()).isZero();
    assertThat(failures.calls).isEmpty();
  }

  @Test
  void anAnswerThatIsLostIsAskedForAgain() {
    scheduler.faults().loseSubmitAnswer();
    sendInTransaction("mail", "1", Duration.ofMinutes(1));
    assertThat(outbox.status().waiting()).isOne();

    scheduler.advance(Duration.ofSeconds(1));

    assertThat(scheduler).of("mail").hasOne();
    assertThat(outbox.status().waiting()).isZero();
  }

  @Test
  void whatTheSchedulerRefusesStaysInTheTable() {
    sendInTransaction("mail", "1", Duration.ofMinutes(1));
    transaction.executeWithoutResult(
        status -> tasks.job("mail", "another").id("1").in(Duration.ofMinutes(1)).send());

    assertThat(scheduler).of("mail").hasOne().dueIn(Duration.ofMinutes(1));
    assertThat(outbox.status().refused()).isOne();
    assertThat(failures.calls).containsExactly(CommitFailures.Call.SEND);
  }

  @Test
  void aTestBeginsWithAnEmptyOutbox() {
    scheduler.faults().schedulerAway();
    sendInTransaction("mail", "1", Duration.ofMinutes(1));

    scheduler.reset();
    scheduler.runDue();

    assertThat(scheduler).of("mail").hasNone();
    assertThat(outbox.status().waiting()).isZero();
  }

  @Test
  void aTableThatIsMissingIsNamed() {
    scheduler.faults().schedulerAway();
    sendInTransaction("mail", "1", Duration.ofMinutes(1));
    db.sql("alter table punctual_outbox rename to hidden").update();
    try {
      scheduler.faults().schedulerBack();
      assertThatThrownBy(scheduler::runDue)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("table punctual_outbox")
          .hasMessageContaining("punctual.initialize-schema=always");
    } finally {
      db.sql("alter table hidden rename to punctual_outbox").update();
    }
  }

  @Test
  void nothingRelaysInTheBackground() {
    assertThat(context.getBeansOfType(OutboxRelay.class)).isEmpty();
  }

  @Test
  void aJobThatComesTwiceTakesEffectOnce() {
    scheduler.faults().deliverTwice("points.add").loseAnswer("points.add");
    tasks.job("points.add", "eve").id("1").in(Duration.ZERO).send();
    tasks.job("points.add", "eve").id("2").in(Duration.ofMinutes(1)).send();

    scheduler.advance(Duration.ofMinutes(5));

    assertThat(scheduler).of("points.add").job("1").isDone().wasAttempted(2);
    assertThat(scheduler).of("points.add").job("2").isDone().wasAttempted(2);
    assertThat(points()).isEqualTo(200);
  }

  @Test
  void aWorkerThatIsKilledLeavesNothingBehind() {
    bank.midway = () -> scheduler.faults().killWorkerHere();
    tasks.job("points.add", "eve").id("1").in(Duration.ZERO).send();
    scheduler.runDue();
    assertThat(points()).isZero();
    assertThat(scheduler).of("points.tell").hasNone();

    bank.midway = () -> {};
    scheduler.advance(Duration.ofMinutes(1));

    assertThat(points()).isEqualTo(100);
    assertThat(scheduler).of("points.tell").hasOne();
  }
}
