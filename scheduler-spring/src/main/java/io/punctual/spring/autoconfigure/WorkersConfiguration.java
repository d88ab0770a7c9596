package io.punctual.spring.autoconfigure;

import io.punctual.TaskWorker;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.AnnotatedWorkers;
import io.punctual.spring.Payloads;
import io.punctual.spring.once.OnceFilters;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** The workers of an application, in both modes and in its tests. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(PunctualProperties.class)
public class WorkersConfiguration {

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
  Payloads punctualPayloads(ListableBeanFactory beans) {
    return Payloads.of(beans);
  }
}
