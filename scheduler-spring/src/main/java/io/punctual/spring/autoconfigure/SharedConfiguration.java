package io.punctual.spring.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.internal.TaskWorkers;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.AnnotatedWorkers;
import io.punctual.spring.CommitFailures;
import io.punctual.spring.CommitRelay;
import io.punctual.spring.CommittedCalls;
import io.punctual.spring.MeteredCommitFailures;
import io.punctual.spring.Payloads;
import io.punctual.spring.SpringTaskSubmitService;
import io.punctual.spring.SubmitObservations;
import io.punctual.spring.TransactionCalls;
import io.punctual.spring.once.OnceFilters;
import java.time.InstantSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import tools.jackson.databind.json.JsonMapper;

/** What both modes have: workers, and the service that submits to the mode's scheduler. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(PunctualProperties.class)
public class SharedConfiguration {

  @Bean
  @ConditionalOnMissingBean
  TaskWorkers punctualTaskWorkers(
      ListableBeanFactory beans,
      AnnotatedWorkers annotated,
      PunctualProperties properties,
      ObjectProvider<OnceFilters> once,
      Environment environment) {
    TaskWorkers workers = new TaskWorkers(beans.getBeansOfType(TaskWorker.class));
    annotated.addTo(workers);
    ConfiguredWorkers.apply(properties, environment, workers);
    once.ifAvailable(
        filters -> filters.apply(workers, type -> properties.settings(type, annotated).once()));
    return workers;
  }

  @Bean
  @ConditionalOnMissingBean
  AnnotatedWorkers punctualAnnotatedWorkers(
      ConfigurableListableBeanFactory beans, Payloads payloads) {
    return new AnnotatedWorkers(beans, payloads);
  }

  @Bean
  @ConditionalOnMissingBean
  Payloads punctualPayloads(ObjectProvider<JsonMapper> mapper) {
    return new Payloads(() -> mapper.getIfAvailable(JsonMapper::new));
  }

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
