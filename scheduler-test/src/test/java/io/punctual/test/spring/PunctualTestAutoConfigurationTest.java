package io.punctual.test.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayedTask;
import io.punctual.SubmitResult;
import io.punctual.TaskContext;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.internal.WorkerSetupException;
import io.punctual.spi.JobAttempt;
import io.punctual.spi.JobListener;
import io.punctual.spring.JobApplication;
import io.punctual.spring.client.PunctualClientAutoConfiguration;
import io.punctual.test.TestScheduler;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

class PunctualTestAutoConfigurationTest {

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(PunctualTestAutoConfiguration.class))
          .withPropertyValues("spring.application.name=Shop");

  @Configuration
  static class Production {

    final List<String> ran = new ArrayList<>();
    final List<JobAttempt> heard = new ArrayList<>();

    @Bean
    Clock clock() {
      return Clock.systemUTC();
    }

    @Bean
    JobListener listener() {
      return heard::add;
    }

    /** Submits itself, as many do. */
    @Bean
    TaskWorker close(TaskSubmitService tasks) {
      return worker(
          "order.close",
          () -> {
            ran.add("close");
            tasks.send("order.archive", "", Duration.ofDays(1));
          });
    }

    @Bean
    TaskWorker archive() {
      return worker("order.archive", () -> ran.add("archive"));
    }
  }

  private static TaskWorker worker(String type, Runnable work) {
    return new TaskWorker() {
      @Override
      public String type() {
        return type;
      }

      @Override
      public void invoke(String params) {
        work.run();
      }
    };
  }

  @Test
  void workersServiceAndTimeAreThere() {
    application
        .withUserConfiguration(Production.class)
        .run(
            context -> {
              TestScheduler scheduler = context.getBean(TestScheduler.class);
              assertThat(scheduler.taskTypes()).containsExactly("order.archive", "order.close");
              assertThat(context.getBean(Clock.class)).isSameAs(scheduler.clock());
              assertThat(context.getBean(InstantSource.class)).isSameAs(scheduler.clock());

              context
                  .getBean(TaskSubmitService.class)
                  .send("order.close", "1", Duration.ofMinutes(30));
              scheduler.advance(Duration.ofDays(2));

              Production production = context.getBean(Production.class);
              assertThat(production.ran).containsExactly("close", "archive");
              assertThat(production.heard).hasSize(2);
            });
  }

  @Test
  void jobsBelongToTheApplicationOfTheStartersProperty() {
    application
        .withPropertyValues("punctual.application=till")
        .run(context -> assertThat(context.getBean(JobApplication.class).name()).isEqualTo("till"));
  }

  @Test
  void theStartersAreOutOfTheWayInAnyOrder() {
    application
        .withConfiguration(AutoConfigurations.of(PunctualClientAutoConfiguration.class))
        .withUserConfiguration(Production.class)
        .run(
            context ->
                assertThat(context.getBean(TaskSubmitService.class))
                    .isSameAs(context.getBean(TestScheduler.class).taskSubmitService()));
  }

  @Test
  void itCanBeSwitchedOff() {
    application
        .withPropertyValues("punctual.test.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .doesNotHaveBean(TestScheduler.class)
                    .doesNotHaveBean(TaskSubmitService.class)
                    .doesNotHaveBean(Clock.class));
  }

  @Test
  void propertiesSayWhatItIsLike() {
    application
        .withPropertyValues("punctual.retry=1h", "punctual.test.start-at=2026-03-01T12:00:00Z")
        .run(
            context -> {
              assertThat(context.getBean(PunctualTestProperties.class))
                  .isEqualTo(
                      new PunctualTestProperties(true, Instant.parse("2026-03-01T12:00:00Z")));
              TestScheduler scheduler = context.getBean(TestScheduler.class);
              assertThat(scheduler.now()).isEqualTo("2026-03-01T12:00:00Z");
              scheduler.register(
                  "fails",
                  params -> {
                    throw new IllegalStateException("no");
                  });
              scheduler.taskSubmitService().send("fails", "", Duration.ZERO);
              scheduler.advance(Duration.ofHours(1));
              assertThat(scheduler.attempts())
                  .extracting(attempt -> Duration.between(attempt.dueAt(), attempt.at()))
                  .containsExactly(Duration.ZERO, Duration.ofHours(1));
              assertThat(scheduler.deadLetters()).hasSize(1);
            });
  }

  @Test
  void withoutPropertiesItIsLikeAScheduler() {
    application.run(
        context ->
            assertThat(context.getBean(PunctualTestProperties.class))
                .isEqualTo(new PunctualTestProperties(true, null)));
  }

  @Test
  void wrongPropertiesAreNamed() {
    application
        .withPropertyValues("punctual.retry=often")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("IllegalArgumentException: punctual.retry: "));
    application
        .withPropertyValues("punctual.test.start-at=noon")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("'punctual.test.start-at'"));
  }

  @Test
  void workersThatDoNotGoTogetherAreFoundAtTheStart() {
    application
        .withBean("one", TaskWorker.class, () -> worker("order.close", () -> {}))
        .withBean("two", TaskWorker.class, () -> worker("order.close", () -> {}))
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .isInstanceOf(WorkerSetupException.class)
                    .hasMessageContaining("'order.close' is taken by two workers"));
  }

  record Remind(String order) {}

  static class Reminders {

    final List<Remind> sent = new ArrayList<>();

    @DelayedTask(type = "order.remind", retry = "1h")
    void remind(Remind message, TaskContext context) {
      if (context.attempt() == 1) {
        throw new IllegalStateException("the mail server is down");
      }
      sent.add(message);
    }
  }

  private static List<Duration> waits(ApplicationContext context) {
    TestScheduler scheduler = context.getBean(TestScheduler.class);
    context
        .getBean(TaskSubmitService.class)
        .send("order.remind", new Remind("1001"), Duration.ofMinutes(1));
    scheduler.advance(Duration.ofDays(1));
    assertThat(context.getBean(Reminders.class).sent).containsExactly(new Remind("1001"));
    return scheduler.attempts().stream()
        .map(attempt -> Duration.between(attempt.dueAt(), attempt.at()))
        .toList();
  }

  @Test
  void annotatedMethodsAreWorkersToo() {
    application
        .withBean(Reminders.class)
        .run(
            context ->
                assertThat(waits(context)).containsExactly(Duration.ZERO, Duration.ofHours(1)));
  }

  @Test
  void whatIsSetForTheStarterCounts() {
    application
        .withBean(Reminders.class)
        .withPropertyValues("punctual.workers.[order.remind].retry=2h")
        .run(
            context ->
                assertThat(waits(context)).containsExactly(Duration.ZERO, Duration.ofHours(2)));
    application
        .withBean(Reminders.class)
        .withPropertyValues("punctual.workers.[order.remind].enabled=false")
        .run(context -> assertThat(context.getBean(TestScheduler.class).taskTypes()).isEmpty());
  }

  @Test
  void withoutAStarterItIsThereAsWell() {
    application
        .withBean(Reminders.class)
        .withClassLoader(new FilteredClassLoader("io.punctual.client", "io.punctual.spring.plugin"))
        .run(
            context ->
                assertThat(waits(context)).containsExactly(Duration.ZERO, Duration.ofHours(1)));
  }

  @Test
  void whatIsSentInATransactionWaitsForItsCommit() {
    TransactionTemplate transaction = new TransactionTemplate(new NothingToCommit());
    application.run(
        context -> {
          TestScheduler scheduler = context.getBean(TestScheduler.class);
          TaskSubmitService tasks = context.getBean(TaskSubmitService.class);
          transaction.executeWithoutResult(
              status -> {
                SubmitResult sent = tasks.send("mail", "", Duration.ofMinutes(1));
                assertThat(sent.outcome()).isEqualTo(SubmitResult.Outcome.ON_COMMIT);
                assertThat(sent.dueAt()).isEqualTo(scheduler.now().plusSeconds(60));
                assertThat(scheduler.jobs()).isEmpty();
              });
          assertThat(scheduler.jobs("mail")).hasSize(1);

          transaction.executeWithoutResult(
              status -> {
                tasks.send("mail", "", Duration.ofMinutes(1));
                status.setRollbackOnly();
              });
          assertThat(scheduler.jobs("mail")).hasSize(1);
        });
    application
        .withPropertyValues("punctual.transactions=immediate")
        .run(
            context ->
                transaction.executeWithoutResult(
                    status -> {
                      context
                          .getBean(TaskSubmitService.class)
                          .send("mail", "", Duration.ofMinutes(1));
                      assertThat(context.getBean(TestScheduler.class).jobs("mail")).hasSize(1);
                    }));
  }

  /** Spring's transactions without anything behind them. */
  private static final class NothingToCommit extends AbstractPlatformTransactionManager {

    private static final long serialVersionUID = 1L;

    @Override
    protected Object doGetTransaction() {
      return new Object();
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {}

    @Override
    protected void doCommit(DefaultTransactionStatus status) {}

    @Override
    protected void doRollback(DefaultTransactionStatus status) {}
  }

  @Test
  void theEnvironmentSaysThatTheStartersAreOff() {
    MockEnvironment on = new MockEnvironment().withProperty("punctual.enabled", "true");
    new InPlaceOfStarters().postProcessEnvironment(on, new SpringApplication());
    assertThat(on.getProperty("punctual.enabled")).isEqualTo("false");
    assertThat(on.getProperty("eureka.client.enabled")).isEqualTo("false");

    MockEnvironment eureka = new MockEnvironment().withProperty("eureka.client.enabled", "true");
    new InPlaceOfStarters().postProcessEnvironment(eureka, new SpringApplication());
    assertThat(eureka.getProperty("eureka.client.enabled")).isEqualTo("true");

    MockEnvironment off = new MockEnvironment().withProperty("punctual.test.enabled", "false");
    new InPlaceOfStarters().postProcessEnvironment(off, new SpringApplication());
    assertThat(off.getProperty("punctual.enabled")).isNull();
    assertThat(off.getProperty("eureka.client.enabled")).isNull();
  }
}
