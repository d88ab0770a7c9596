package io.punctual.spring.plugin;

import io.punctual.client.run.JobRunner;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.job.QueueName;
import io.punctual.core.local.EngineJobScheduler;
import io.punctual.core.runtime.Engines;
import io.punctual.core.store.Store;
import io.punctual.internal.AttemptObservations;
import io.punctual.internal.JobListeners;
import io.punctual.internal.TaskWorkers;
import io.punctual.internal.WorkerSetupException;
import io.punctual.spi.JobListener;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.AnnotatedWorkers;
import io.punctual.spring.JobApplication;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.spring.autoconfigure.SharedConfiguration;
import io.punctual.spring.client.PunctualClientAutoConfiguration;
import io.punctual.wire.Limits;
import java.util.UUID;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;

/**
 * Workers, submitting and the engine between them, in one process. Beside the client starter it
 * runs the jobs that are in its Redis, and shares workers and all else with that one.
 */
@AutoConfiguration(after = PunctualClientAutoConfiguration.class)
@ConditionalOnBean(Store.class)
@ConditionalOnProperty(prefix = "punctual", name = "enabled", matchIfMissing = true)
@Import(SharedConfiguration.class)
public class PunctualPluginAutoConfiguration {

  @Bean
  PluginIdentity punctualPluginIdentity(PunctualProperties properties, Environment environment) {
    String application = properties.applicationName(environment);
    if (!Limits.isName(application)) {
      throw new WorkerSetupException(
          "The application has no usable name for its jobs: '" + application + "'.",
          "Set spring.application.name, or punctual.application; it " + Limits.NAME_RULE + ".");
    }
    return new PluginIdentity(
        application,
        ProcessHandle.current().pid() + "@" + UUID.randomUUID().toString().substring(0, 8));
  }

  @Bean
  @ConditionalOnMissingBean
  JobApplication punctualJobApplication(PluginIdentity identity) {
    return new JobApplication(identity.application());
  }

  @Bean
  PluginTasks punctualTasks(
      ObjectProvider<TaskWorkers> workers,
      AnnotatedWorkers annotated,
      PunctualProperties properties) {
    return new PluginTasks(workers::getObject, annotated, properties);
  }

  @Bean
  InProcessDispatcher punctualDispatcher(
      PluginIdentity identity,
      PluginTasks tasks,
      PunctualProperties properties,
      ObjectProvider<JobListener> listeners,
      ObjectProvider<AttemptObservations> observations) {
    int concurrency = properties.concurrency();
    return new InProcessDispatcher(
        identity.application(),
        identity.instance(),
        tasks,
        concurrency,
        () ->
            new JobRunner(
                tasks.workers(),
                new JobListeners(listeners.orderedStream().toList()),
                observations.getIfAvailable(() -> AttemptObservations.NONE),
                "in-process",
                concurrency,
                // The engine claims no more of a type than may run.
                type -> concurrency));
  }

  @Bean
  @ConditionalOnMissingBean
  Engine punctualEngine(
      Store store,
      PluginIdentity identity,
      PluginTasks tasks,
      InProcessDispatcher dispatcher,
      ListableBeanFactory beans) {
    EngineOptions options =
        EngineOptions.defaults(identity.instance())
            .with()
            .retry(queue -> tasks.retry(queue.taskType()))
            .safetyCheck(queue -> tasks.scanInterval(queue.taskType()))
            // Of scheduler-dev-redis, in the profile dev.
            .newStoreExpected(beans.containsBean("punctualDevRedis"))
            .build();
    Engine engine = Engines.create(store, options, dispatcher);
    dispatcher.onCapacity(engine::capacityChanged);
    tasks.onChange(type -> engine.capacityChanged(new QueueName(identity.application(), type)));
    return engine;
  }

  @Bean
  @ConditionalOnMissingBean
  JobScheduler punctualJobScheduler(PluginIdentity identity, Engine engine) {
    return new EngineJobScheduler(identity.application(), engine);
  }

  @Bean
  PluginLifecycle punctualPluginLifecycle(
      Engine engine,
      InProcessDispatcher dispatcher,
      PluginIdentity identity,
      TaskWorkers workers,
      PunctualProperties properties) {
    return new PluginLifecycle(
        engine, dispatcher, identity.application(), workers.types(), properties.shutdownPatience());
  }

  /** Beside the client starter, whose schedulers get new jobs otherwise. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBooleanProperty("punctual.plugin.submit")
  static class Submit {

    @Bean
    @Primary
    JobScheduler punctualPluginJobScheduler(PluginIdentity identity, Engine engine) {
      return new EngineJobScheduler(identity.application(), engine);
    }
  }
}
