package io.punctual.test.spring;

import io.punctual.RetryPolicy;
import io.punctual.TaskSubmitService;
import io.punctual.internal.TaskWorkers;
import io.punctual.spi.JobListener;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.AnnotatedWorkers;
import io.punctual.spring.CommitFailures;
import io.punctual.spring.DirectCalls;
import io.punctual.spring.JobApplication;
import io.punctual.spring.Payloads;
import io.punctual.spring.SpringTaskSubmitService;
import io.punctual.spring.SubmitObservations;
import io.punctual.spring.TransactionCalls;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.spring.autoconfigure.WorkersConfiguration;
import io.punctual.spring.outbox.Outbox;
import io.punctual.spring.outbox.OutboxOptions;
import io.punctual.spring.outbox.OutboxRelay;
import io.punctual.test.PendingCalls;
import io.punctual.test.TestScheduler;
import io.punctual.wire.Limits;
import java.time.Clock;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;

/** A {@link TestScheduler} in place of a starter: what is submitted, who runs it, and the time. */
@AutoConfiguration(
    beforeName = {
      "io.punctual.spring.client.PunctualClientAutoConfiguration",
      "io.punctual.spring.plugin.PunctualPluginAutoConfiguration",
      "io.punctual.spring.autoconfigure.PunctualTransactionsAutoConfiguration"
    })
@ConditionalOnProperty(prefix = "punctual.test", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(PunctualTestProperties.class)
@Import(WorkersConfiguration.class)
public class PunctualTestAutoConfiguration {

  private static final Logger log = LoggerFactory.getLogger(PunctualTestAutoConfiguration.class);

  @Bean
  @ConditionalOnMissingBean
  JobApplication punctualJobApplication(PunctualProperties starter, Environment environment) {
    String name = starter.applicationName(environment);
    return new JobApplication(Limits.isName(name) ? name : "application");
  }

  @Bean
  @ConditionalOnMissingBean
  TestScheduler punctualTestScheduler(
      PunctualTestProperties properties,
      JobApplication application,
      ObjectProvider<TaskWorkers> workers,
      AnnotatedWorkers annotated,
      Payloads payloads,
      PunctualProperties starter,
      ObjectProvider<CommitFailures> failures,
      ObjectProvider<JobListener> listeners,
      ObjectProvider<TransactionCalls> outbox,
      ObjectProvider<PendingCalls> pending) {
    RetryPolicy retry = starter.retryPolicy();
    TestScheduler.Builder builder =
        TestScheduler.builder()
            .application(application.name())
            .retry(retry == null ? RetryPolicy.DEFAULT : retry)
            .workers(workers::getObject)
            .listeners(() -> listeners.orderedStream().toList())
            .pendingCalls(() -> pending.getIfAvailable(() -> PendingCalls.NONE))
            .taskSubmitService(
                scheduler ->
                    new SpringTaskSubmitService(
                        scheduler.jobScheduler(),
                        payloads,
                        type -> starter.settings(type, annotated),
                        starter.transactions(),
                        new DirectCalls(
                            scheduler.jobScheduler(),
                            failures.getIfAvailable(() -> CommitFailures.NONE)),
                        scheduler.clock(),
                        outbox.getIfAvailable(),
                        SubmitObservations.NONE));
    Instant start = properties.startAt();
    if (start != null) {
      builder.startingAt(start);
    }
    return builder.build();
  }

  @Bean
  @ConditionalOnMissingBean
  JobScheduler punctualJobScheduler(TestScheduler scheduler) {
    return scheduler.jobScheduler();
  }

  @Bean
  @ConditionalOnMissingBean
  TaskSubmitService punctualTaskSubmitService(TestScheduler scheduler) {
    return scheduler.taskSubmitService();
  }

  /** Before a clock that the application has for production. */
  @Bean
  @Primary
  Clock punctualTestClock(TestScheduler scheduler) {
    return scheduler.clock();
  }

  /** Workers that do not go together are found at the start, as in production. */
  @Bean
  SmartInitializingSingleton punctualTestStart(TestScheduler scheduler) {
    return () ->
        log.info(
            "Punctual: jobs are with the test kit, in memory, and run when a test moves the clock;"
                + " workers {}. punctual.test.enabled=false takes it away",
            scheduler.taskTypes());
  }

  /** In the place of the thread that relays in production. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(DataSourceScriptDatabaseInitializer.class)
  @ConditionalOnProperty(prefix = "punctual.outbox", name = "enabled")
  static class OutboxCalls {

    /** Slices of an application have no outbox; what they send waits for the commit without. */
    @Bean
    PendingCalls punctualOutboxRelay(ObjectProvider<Outbox> outbox, JobScheduler scheduler) {
      Outbox known = outbox.getIfAvailable();
      return known == null
          ? PendingCalls.NONE
          : new OutboxInStep(known, new OutboxRelay(known, scheduler, OutboxOptions.keeping(null)));
    }
  }
}
