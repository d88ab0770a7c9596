package io.punctual.spring.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayedTask;
import io.punctual.RetryPolicy;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.core.Engine;
import io.punctual.internal.WorkerSetupException;
import io.punctual.plugin.PunctualPluginRedisAutoConfiguration;
import io.punctual.spring.SubmitObservations;
import io.punctual.spring.Transactions;
import io.punctual.spring.autoconfigure.PunctualObservationAutoConfiguration;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.spring.autoconfigure.WorkerSetupFailureAnalyzer;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class PluginAutoConfigurationTest {

  // Nobody listens on that port: everything but jobs works without Redis.
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  DataRedisAutoConfiguration.class,
                  PunctualPluginRedisAutoConfiguration.class,
                  PunctualPluginAutoConfiguration.class))
          .withPropertyValues(
              "spring.application.name=Shop",
              "spring.data.redis.port=1",
              "punctual.shutdown-patience=0s");

  @Test
  void defaults() {
    application.run(
        context -> {
          assertThat(context).hasSingleBean(TaskSubmitService.class).hasSingleBean(Engine.class);
          PunctualProperties properties = context.getBean(PunctualProperties.class);
          assertThat(properties.concurrency()).isEqualTo(100);
          assertThat(properties.keyPrefix()).isEqualTo("punctual");
          assertThat(properties.durability()).isEqualTo("auto");
          assertThat(properties.transactions()).isEqualTo(Transactions.AFTER_COMMIT);
          PluginTasks tasks = context.getBean(PluginTasks.class);
          assertThat(tasks.retry("order.close")).isEqualTo(RetryPolicy.DEFAULT);
          assertThat(tasks.scanInterval("order.close")).isEqualTo(Duration.ofSeconds(1));
          assertThat(context.getBean(PluginIdentity.class).application()).isEqualTo("Shop");
        });
  }

  @Test
  void itCanBeSwitchedOff() {
    application
        .withPropertyValues("punctual.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .doesNotHaveBean(TaskSubmitService.class)
                    .doesNotHaveBean(Engine.class));
  }

  @Test
  void withoutMicrometerNothingIsMissed() {
    application
        .withConfiguration(AutoConfigurations.of(PunctualObservationAutoConfiguration.class))
        .withClassLoader(new FilteredClassLoader("io.micrometer"))
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(TaskSubmitService.class)
                    .doesNotHaveBean(SubmitObservations.class));
  }

  @Test
  void twoWorkersOfOneTypeAreAClearFailure() {
    application
        .withBean("first", TaskWorker.class, () -> worker("order.close"))
        .withBean("second", TaskWorker.class, () -> worker("order.close"))
        .run(
            context -> {
              assertThat(context).hasFailed();
              WorkerSetupException cause = causeOf(context.getStartupFailure());
              var analysis = new WorkerSetupFailureAnalyzer().analyze(cause);
              assertThat(analysis.getDescription()).contains("order.close", "first", "second");
              assertThat(analysis.getAction()).contains("another type()");
            });
  }

  @Test
  void anInvalidTypeIsAClearFailure() {
    application
        .withBean("bad", TaskWorker.class, () -> worker("not a name"))
        .run(
            context ->
                assertThat(causeOf(context.getStartupFailure())).hasMessageContaining("'bad'"));
  }

  @Test
  void anApplicationWithoutANameIsAClearFailure() {
    application
        .withPropertyValues("spring.application.name=")
        .run(
            context ->
                assertThat(causeOf(context.getStartupFailure()))
                    .hasMessageContaining("spring.application.name"));
  }

  @Test
  void aValueOutOfRangeNamesTheProperty() {
    application
        .withPropertyValues("punctual.concurrency=0")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("punctual.concurrency must be between 1 and 10000"));
    for (String setting :
        List.of(
            "durability=always",
            "retry=often",
            "shutdown-patience=-1s",
            "submit-timeout=6m",
            "outbox.keep-sent=1s",
            "once.retention=1m",
            "callback.path=x y",
            "workers.\"[order.close]\".concurrency=0",
            "workers.\"[order.close]\".retry=often",
            "workers.\"[order.close]\".time-to-run=1ms")) {
      application
          .withPropertyValues("punctual." + setting)
          .run(
              context ->
                  assertThat(context.getStartupFailure())
                      .as(setting)
                      .rootCause()
                      .hasMessageContaining(
                          "punctual." + setting.substring(0, setting.indexOf('='))));
    }
  }

  @Test
  void settingsOfAWorkerWinOverThoseOfTheAnnotation() {
    application
        .withBean("orders", Orders.class)
        .withPropertyValues(
            "punctual.workers.\"[order.close]\".concurrency=5",
            "punctual.workers.\"[order.close]\".time-to-run=9s")
        .run(
            context -> {
              PluginTasks tasks = context.getBean(PluginTasks.class);
              assertThat(tasks.threads("order.close")).isEqualTo(5);
              assertThat(tasks.threads("order.remind")).isEqualTo(3);
              assertThat(tasks.threads("other")).isEqualTo(100);
              assertThat(tasks.retry("order.close")).isEqualTo(RetryPolicy.NEVER);
              assertThat(tasks.retry("order.remind")).isEqualTo(RetryPolicy.DEFAULT);
              assertThat(tasks.settings("order.close").timeToRun())
                  .isEqualTo(Duration.ofSeconds(9));
              assertThat(tasks.settings("order.remind").timeToRun())
                  .isEqualTo(Duration.ofSeconds(8));
            });
  }

  static final class Orders {

    @DelayedTask(type = "order.close", concurrency = "3", timeToRun = "8s", retry = "never")
    void close(String id) {}

    @DelayedTask(type = "order.remind", concurrency = "3", timeToRun = "8s")
    void remind(String id) {}
  }

  @Test
  void aWorkerMaySubmitJobsItself() {
    application
        .withBean("self", SelfSubmitting.class)
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(SelfSubmitting.class));
  }

  private static TaskWorker worker(String type) {
    return new TaskWorker() {
      @Override
      public String type() {
        return type;
      }

      @Override
      public void invoke(String params) {}
    };
  }

  private static WorkerSetupException causeOf(@Nullable Throwable failure) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof WorkerSetupException)) {
      cause = cause.getCause();
    }
    if (cause instanceof WorkerSetupException start) {
      return start;
    }
    throw new AssertionError("not a clear failure", failure);
  }

  static final class SelfSubmitting implements TaskWorker {

    private final TaskSubmitService service;

    SelfSubmitting(TaskSubmitService service) {
      this.service = service;
    }

    @Override
    public String type() {
      return "self";
    }

    @Override
    public void invoke(String params) {
      service.send("self", params, java.time.Duration.ofMinutes(1));
    }
  }
}
