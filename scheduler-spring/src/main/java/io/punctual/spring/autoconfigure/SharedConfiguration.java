package io.punctual.spring.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.punctual.TaskSubmitService;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.AnnotatedSchedules;
import io.punctual.spring.AnnotatedWorkers;
import io.punctual.spring.CommitFailures;
import io.punctual.spring.CommitRelay;
import io.punctual.spring.CommittedCalls;
import io.punctual.spring.MeteredCommitFailures;
import io.punctual.spring.Payloads;
import io.punctual.spring.SpringTaskSubmitService;
import io.punctual.spring.SubmitObservations;
import io.punctual.spring.TransactionCalls;
import java.time.InstantSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The beans of both modes: workers, and the service that submits to the mode's scheduler. */
@Configuration(proxyBeanMethods = false)
@Import(WorkersConfiguration.class)
public class SharedConfiguration {

  @Bean
  @ConditionalOnMissingBean(CommittedCalls.class)
  CommitRelay punctualCommitRelay(JobScheduler scheduler, ObjectProvider<CommitFailures> failures) {
    return new CommitRelay(scheduler, failures.getIfAvailable(() -> CommitFailures.NONE));
  }

  @Bean
  @ConditionalOnMissingBean
  TaskSubmitService punctualTaskSubmitService(
      JobScheduler scheduler,
      Payloads payloads,
      CommittedCalls committed,
      ObjectProvider<TransactionCalls> outbox,
      ObjectProvider<SubmitObservations> observations,
      PunctualProperties properties,
      AnnotatedWorkers annotated) {
    return new SpringTaskSubmitService(
        scheduler,
        payloads,
        type -> properties.settings(type, annotated),
        properties.transactions(),
        committed,
        InstantSource.system(),
        outbox.getIfAvailable(),
        observations.getIfAvailable(() -> SubmitObservations.NONE));
  }

  @Bean
  @ConditionalOnMissingBean
  AnnotatedSchedules punctualAnnotatedSchedules(
      AnnotatedWorkers annotated, TaskSubmitService tasks, JobScheduler scheduler) {
    return new AnnotatedSchedules(annotated, tasks, scheduler);
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterRegistry.class)
  static class Metrics {

    @Bean
    @ConditionalOnMissingBean
    CommitFailures punctualCommitFailures(ObjectProvider<MeterRegistry> registry) {
      MeterRegistry known = registry.getIfAvailable();
      return known == null ? CommitFailures.NONE : new MeteredCommitFailures(known);
    }
  }
}
