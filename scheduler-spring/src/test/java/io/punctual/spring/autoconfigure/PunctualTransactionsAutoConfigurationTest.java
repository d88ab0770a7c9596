package io.punctual.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.punctual.TaskContext;
import io.punctual.TaskWorker;
import io.punctual.internal.RunningAttempt;
import io.punctual.internal.TaskWorkers;
import io.punctual.internal.TimeLimit;
import io.punctual.internal.WorkerSetupException;
import io.punctual.spi.JobAttempt;
import io.punctual.spi.JobListener;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.DeferredCall;
import io.punctual.spring.JobApplication;
import io.punctual.spring.Once;
import io.punctual.spring.TransactionCalls;
import io.punctual.spring.jdbc.HeldLease;
import io.punctual.spring.jdbc.TestDatabase;
import io.punctual.spring.once.OnceFilters;
import io.punctual.spring.outbox.Outbox;
import io.punctual.spring.outbox.OutboxHealthIndicator;
import io.punctual.spring.outbox.OutboxMetrics;
import io.punctual.spring.outbox.OutboxRelay;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

@ExtendWith(OutputCaptureExtension.class)
class PunctualTransactionsAutoConfigurationTest {

  private static final String OUTBOX = "punctual.outbox.enabled=true";

  private final ApplicationContextRunner bare =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(PunctualTransactionsAutoConfiguration.class))
          .withUserConfiguration(Application.class);

  private final ApplicationContextRunner application =
      bare.withConfiguration(
              AutoConfigurations.of(
                  DataSourceAutoConfiguration.class,
                  DataSourceTransactionManagerAutoConfiguration.class,
                  TransactionAutoConfiguration.class))
          .withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());

  @Test
  void withoutThePropertyThereIsNoOutbox() {
    application.run(
        context -> {
          assertThat(context).doesNotHaveBean(TransactionCalls.class);
          assertThat(context).doesNotHaveBean(OutboxRelay.class);
          assertThat(context).hasSingleBean(OnceFilters.class);
          assertThat(tables(context.getBean(DataSource.class))).isEmpty();
        });
  }

  @Test
  void thatItIsOffIsSaidWhereItWouldHelp(CapturedOutput output) {
    String hint = "the outbox is off";

    bare.run(context -> assertThat(output).doesNotContain(hint));
    application.withPropertyValues(OUTBOX).run(context -> assertThat(output).doesNotContain(hint));
    application
        .withPropertyValues("punctual.transactions=immediate")
        .run(context -> assertThat(output).doesNotContain(hint));
    application.run(
        context -> assertThat(output).contains(hint).contains("punctual.outbox.enabled=true"));
  }

  @Test
  void withItCallsAreRelayedAndSeen() {
    application
        .withPropertyValues(OUTBOX)
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              context.getBean(OutboxRelay.class).stop();
              new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                  .executeWithoutResult(
                      status ->
                          context
                              .getBean(TransactionCalls.class)
                              .add(List.of(new DeferredCall.CancelByTag("order:1"))));

              Health health =
                  Objects.requireNonNull(context.getBean(OutboxHealthIndicator.class).health());
              assertThat(health.getStatus()).isEqualTo(Status.UP);
              assertThat(health.getDetails()).containsEntry("waiting", 1L).containsKey("age");
              SimpleMeterRegistry registry = new SimpleMeterRegistry();
              context.getBean(OutboxMetrics.class).bindTo(registry);
              assertThat(registry.get("punctual.client.outbox.waiting").gauge().value())
                  .isEqualTo(1);
              assertThat(registry.get("punctual.client.outbox.age").gauge().value())
                  .isNotNegative();
              assertThat(registry.get("punctual.client.outbox.refused").gauge().value()).isZero();

              context.getBean(OutboxRelay.class).start();
              Awaitility.await().until(() -> context.getBean(Outbox.class).status().waiting() == 0);
              assertThat(context.getBean(Application.class).calls).contains("cancelByTag");

              new JdbcTemplate(context.getBean(DataSource.class))
                  .execute("drop table punctual_outbox");
              assertThat(
                      Objects.requireNonNull(context.getBean(OutboxHealthIndicator.class).health())
                          .getStatus())
                  .isEqualTo(Status.DOWN);
            });
  }

  @Test
  void whatIsSentAgainIsSeenInHealthAndMetrics() {
    application
        .withPropertyValues(OUTBOX, "punctual.outbox.keep-sent=1h")
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .run(
            context -> {
              OutboxHealthIndicator health = context.getBean(OutboxHealthIndicator.class);
              assertThat(Objects.requireNonNull(health.health()).getDetails())
                  .doesNotContainKey("resend");
              int unused =
                  new JdbcTemplate(context.getBean(DataSource.class))
                      .update(
                          "update punctual_resend set begun_at = 1000, missing = 2, present = 3, feed_at = 9000000000000");
              assertThat(Objects.requireNonNull(health.health()).getDetails())
                  .containsEntry(
                      "resend",
                      Map.of(
                          "since",
                          "all",
                          "begunAt",
                          "1970-01-01T00:00:01Z",
                          "endedAt",
                          "goes on",
                          "missing",
                          2L,
                          "present",
                          3L,
                          "refused",
                          0L));
              SimpleMeterRegistry registry = new SimpleMeterRegistry();
              context.getBean(OutboxMetrics.class).bindTo(registry);
              assertThat(registry.get("punctual.client.outbox.resend.running").gauge().value())
                  .isEqualTo(1);
              assertThat(
                      registry
                          .get("punctual.client.outbox.resend.jobs")
                          .tag("outcome", "missing")
                          .gauge()
                          .value())
                  .isEqualTo(2);
            });
  }

  @Test
  void whatAWorkerOfTheApplicationHasDoneIsNotKept() {
    application
        .withPropertyValues(OUTBOX, "punctual.outbox.keep-sent=1h")
        .run(
            context -> {
              JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
              for (String id : List.of("done", "failed")) {
                int unused =
                    jdbc.update(
                        "insert into punctual_sent values ('shop', ?, 'order.close', 'send', '{}', 0, 0, 1, 1, 9000000000000)",
                        "order.close/" + id);
              }
              JobListener listener = context.getBean(JobListener.class);
              listener.ended(attempt("done", JobAttempt.Outcome.DONE));
              listener.ended(attempt("failed", JobAttempt.Outcome.FAILED));

              Awaitility.await()
                  .untilAsserted(
                      () ->
                          assertThat(
                                  jdbc.queryForList("select lane from punctual_sent", String.class))
                              .containsExactly("order.close/failed"));
            });
    application
        .withPropertyValues(OUTBOX)
        .run(context -> assertThat(context).doesNotHaveBean(JobListener.class));
  }

  private static JobAttempt attempt(String id, JobAttempt.Outcome outcome) {
    return new JobAttempt(
        "order.close", id, 1, Instant.EPOCH, Instant.EPOCH, Duration.ZERO, outcome, null);
  }

  @Test
  void aPoolThatDoesNotCommitByItselfIsWell() {
    application
        .withPropertyValues(OUTBOX, "spring.datasource.hikari.auto-commit=false")
        .run(
            context -> {
              new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                  .executeWithoutResult(
                      status ->
                          context
                              .getBean(TransactionCalls.class)
                              .add(List.of(new DeferredCall.Cancel("order.close", "1"))));
              Awaitility.await().until(() -> context.getBean(Outbox.class).status().waiting() == 0);
              assertThat(context.getBean(Application.class).calls).containsExactly("cancel");
            });
  }

  @Test
  void whatAListenerOfTheCommitAsksForIsNotPartOfTheTransaction() {
    application
        .withPropertyValues(OUTBOX)
        .withUserConfiguration(Listening.class)
        .run(
            context -> {
              new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                  .executeWithoutResult(status -> context.publishEvent("closed"));
              assertThat(context.getBean(Listener.class).inTransaction).containsExactly(false);
            });
  }

  @Test
  void itNeedsADataSource() {
    bare.withPropertyValues(OUTBOX)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .isInstanceOf(WorkerSetupException.class)
                    .hasMessageContaining("punctual.outbox.enabled needs a DataSource"));
  }

  @Test
  void ofTwoDataSourcesOneMustBePrimary() {
    bare.withPropertyValues(OUTBOX)
        .withBean("one", DataSource.class, TestDatabase.H2::create)
        .withBean("two", DataSource.class, TestDatabase.H2::create)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("there are 2, none of them primary")
                    .hasMessageContaining("@Primary"));
  }

  @Test
  void itNeedsJdbc() {
    bare.withPropertyValues(OUTBOX)
        .withClassLoader(
            new FilteredClassLoader("org.springframework.jdbc", "org.springframework.boot.jdbc"))
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("JDBC is not on the class path"));
  }

  @Test
  void whoDoesNotUseItNeedsNothingOfIt() {
    bare.withClassLoader(
            new FilteredClassLoader(
                "org.springframework.jdbc",
                "org.springframework.boot.jdbc",
                "org.springframework.boot.sql",
                "org.springframework.boot.health",
                "org.springframework.data",
                "org.springframework.transaction",
                "org.springframework.dao",
                "io.micrometer"))
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(OnceFilters.class));
  }

  @Test
  void valuesThatAreOutOfRangeAreNamed() {
    for (String value : List.of("keep-sent=1s", "keep-sent=4000d")) {
      application
          .withPropertyValues(OUTBOX, "punctual.outbox." + value)
          .run(
              context ->
                  assertThat(context)
                      .getFailure()
                      .rootCause()
                      .hasMessageContaining(
                          "punctual.outbox." + value.substring(0, value.indexOf('='))));
    }
    application
        .withPropertyValues("punctual.once.retention=1s")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("punctual.once.retention"));
  }

  @Test
  void theTableIsMadeWhereThatIsWanted() {
    application
        .withPropertyValues(OUTBOX)
        .run(
            context ->
                assertThat(tables(context.getBean(DataSource.class)))
                    .containsExactly("PUNCTUAL_OUTBOX"));
    application
        .withPropertyValues(OUTBOX, "punctual.outbox.keep-sent=1h")
        .run(
            context ->
                assertThat(tables(context.getBean(DataSource.class)))
                    .containsExactly("PUNCTUAL_OUTBOX", "PUNCTUAL_RESEND", "PUNCTUAL_SENT"));
    application
        .withPropertyValues(OUTBOX, "punctual.initialize-schema=never")
        .run(context -> assertLacks(context, "punctual_outbox"));
    // A file is none of this process's memory.
    String file = "spring.datasource.url=jdbc:h2:./target/h2/" + UUID.randomUUID();
    application
        .withPropertyValues(OUTBOX, file)
        .run(context -> assertLacks(context, "punctual_outbox"));
    application
        .withPropertyValues(file)
        .withUserConfiguration(OnceInDatabase.class)
        .run(context -> assertLacks(context, "punctual_once"));
    application
        .withPropertyValues(OUTBOX, file, "punctual.initialize-schema=always")
        .run(
            context ->
                assertThat(tables(context.getBean(DataSource.class)))
                    .containsExactly("PUNCTUAL_OUTBOX"));
  }

  private static void assertLacks(AssertableApplicationContext context, String table) {
    assertThat(context)
        .getFailure()
        .rootCause()
        .isInstanceOf(SQLException.class)
        .hasMessageContaining(table.toUpperCase(Locale.ROOT));
    assertThat(context)
        .getFailure()
        .extracting(PunctualTransactionsAutoConfigurationTest::setup)
        .satisfies(
            setup -> {
              assertThat(setup.description()).contains("needs the table " + table);
              assertThat(setup.action()).contains("Set punctual.initialize-schema=always");
            });
  }

  private static WorkerSetupException setup(Throwable failure) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof WorkerSetupException)) {
      cause = cause.getCause();
    }
    return (WorkerSetupException) Objects.requireNonNull(cause, "no word of the set-up");
  }

  @Test
  void flywayMakesTheTables() {
    application
        .withConfiguration(AutoConfigurations.of(FlywayAutoConfiguration.class))
        .withUserConfiguration(OnceInDatabase.class)
        .withPropertyValues(
            OUTBOX,
            "punctual.initialize-schema=never",
            "spring.flyway.locations=classpath:io/punctual/schema/{vendor}")
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(tables(context.getBean(DataSource.class)))
                  .containsExactly(
                      "PUNCTUAL_ONCE", "PUNCTUAL_OUTBOX", "PUNCTUAL_RESEND", "PUNCTUAL_SENT");
            });
  }

  @Test
  void liquibaseMakesTheTables() {
    application
        .withConfiguration(AutoConfigurations.of(LiquibaseAutoConfiguration.class))
        .withUserConfiguration(OnceInDatabase.class)
        .withPropertyValues(
            OUTBOX,
            "punctual.initialize-schema=never",
            "spring.liquibase.change-log=classpath:io/punctual/schema/liquibase.yaml")
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(tables(context.getBean(DataSource.class)))
                  .containsExactly(
                      "PUNCTUAL_ONCE", "PUNCTUAL_OUTBOX", "PUNCTUAL_RESEND", "PUNCTUAL_SENT");
            });
  }

  @Test
  void aWorkerThatWantsItsJobsOnceGetsWhatItNeeds() {
    application
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .withUserConfiguration(OnceInDatabase.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              TaskWorker worker =
                  Objects.requireNonNull(context.getBean(TaskWorkers.class).find("order.close"));
              assertThat(worker.clazz()).isEqualTo(Counting.class);
              for (int i = 0; i < 2; i++) {
                assertThat(worker.invokeAsync("", attempt())).isCompleted();
              }
              assertThat(context.getBean(Counting.class).count).hasValue(1);
              assertThat(
                      context
                          .getBean(MeterRegistry.class)
                          .get("punctual.client.once.skipped")
                          .tag("task.type", "order.close")
                          .counter()
                          .count())
                  .isEqualTo(1);
            });
  }

  @Test
  void aFutureIsWaitedForAndOnlyThenIsItsJobDone() {
    application
        .withUserConfiguration(OnceInDatabase.class)
        .run(
            context -> {
              TaskWorker worker =
                  Objects.requireNonNull(context.getBean(TaskWorkers.class).find("order.close"));
              Counting counting = context.getBean(Counting.class);
              counting.future = CompletableFuture.failedFuture(new IllegalStateException("broken"));
              assertThatThrownBy(() -> worker.invokeAsync("", attempt()))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessage("broken");
              CompletableFuture<String> future = new CompletableFuture<>();
              counting.future = future;
              CompletableFuture<Boolean> ended =
                  CompletableFuture.supplyAsync(
                      () -> {
                        try {
                          return worker.invokeAsync("", attempt()).toCompletableFuture().isDone();
                        } catch (Exception e) {
                          throw new IllegalStateException(e);
                        }
                      });
              Awaitility.await().until(() -> counting.count.get() == 2);
              assertThat(ended).isNotDone();
              future.complete("");
              assertThat(ended.get(20, TimeUnit.SECONDS)).isTrue();
              assertThat(worker.invokeAsync("", attempt())).isCompleted();
              assertThat(counting.count).hasValue(2);
            });
  }

  @Test
  void aJobThatTakesEffectOnceCannotBeLeftToSomebodyElse() {
    application
        .withUserConfiguration(OnceInDatabase.class)
        .run(
            context -> {
              TaskWorker worker =
                  Objects.requireNonNull(context.getBean(TaskWorkers.class).find("order.close"));
              context.getBean(Counting.class).defers = true;
              assertThatThrownBy(() -> worker.invokeAsync("", attempt()))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("once and defer do not go together");
            });
  }

  @Test
  void withoutADatabaseItStopsTheStart() {
    bare.withUserConfiguration(OnceInDatabase.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasMessageContaining("once: database needs a DataSource"));
    bare.withUserConfiguration(OnceInDatabase.class)
        .withClassLoader(new FilteredClassLoader("org.springframework.boot.jdbc"))
        .run(
            context ->
                assertThat(context).getFailure().hasMessageContaining("there is no database"));
  }

  private static TaskContext attempt() {
    return new RunningAttempt(
        "order.close",
        "1",
        "a",
        1,
        0,
        0,
        Map.of(),
        InstantSource.system(),
        new TimeLimit(Duration.ofSeconds(30), () -> {}),
        new HeldLease());
  }

  private static List<String> tables(DataSource source) {
    return new JdbcTemplate(source)
        .query(
            "select table_name from information_schema.tables where table_name like 'PUNCTUAL%'"
                + " order by 1",
            (results, number) -> results.getString(1));
  }

  @Configuration(proxyBeanMethods = false)
  static class Application {

    final List<String> calls = new java.util.concurrent.CopyOnWriteArrayList<>();

    @Bean
    JobApplication name() {
      return new JobApplication("Shop");
    }

    @Bean
    JobScheduler scheduler() {
      return (JobScheduler)
          Proxy.newProxyInstance(
              JobScheduler.class.getClassLoader(),
              new Class<?>[] {JobScheduler.class},
              (proxy, method, arguments) -> {
                calls.add(method.getName());
                return method.getName().equals("hashCode")
                    ? (Object) 1
                    : method.getName().equals("equals") ? (Object) (proxy == arguments[0]) : null;
              });
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OnceInDatabase {

    @Bean
    Counting counting() {
      return new Counting();
    }

    @Bean
    TaskWorkers workers(Counting counting, OnceFilters filters) {
      TaskWorkers workers = new TaskWorkers(Map.of("counting", counting));
      filters.apply(workers, type -> Once.DATABASE);
      return workers;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Listening {

    @Bean
    Listener listener(TransactionCalls calls) {
      return new Listener(calls);
    }
  }

  static class Listener {

    private final TransactionCalls calls;
    private final List<Boolean> inTransaction = new java.util.concurrent.CopyOnWriteArrayList<>();

    Listener(TransactionCalls calls) {
      this.calls = calls;
    }

    @TransactionalEventListener
    public void closed(String event) {
      inTransaction.add(calls.isInTransaction());
    }
  }

  static final class Counting implements TaskWorker {

    private final AtomicInteger count = new AtomicInteger();
    private volatile boolean defers;
    private volatile CompletableFuture<String> future = CompletableFuture.completedFuture("");

    @Override
    public String type() {
      return "order.close";
    }

    @Override
    public void invoke(String params) {
      count.incrementAndGet();
    }

    @Override
    public CompletionStage<?> invokeAsync(String params, TaskContext context) {
      invoke(params);
      if (defers) {
        var unused = context.defer(Duration.ofMinutes(1));
      }
      return future;
    }
  }
}
