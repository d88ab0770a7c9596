package io.punctual.spring.plugin;

import io.micrometer.core.instrument.MeterRegistry;
import io.punctual.JobListener;
import io.punctual.JobScheduler;
import io.punctual.Limits;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.job.QueueName;
import io.punctual.core.local.EngineJobScheduler;
import io.punctual.core.runtime.Engines;
import io.punctual.core.store.Store;
import io.punctual.spring.AnnotatedWorkers;
import io.punctual.spring.CommitFailures;
import io.punctual.spring.CommitRelay;
import io.punctual.spring.CommittedCalls;
import io.punctual.spring.JobApplication;
import io.punctual.spring.MeteredCommitFailures;
import io.punctual.spring.Payloads;
import io.punctual.spring.SpringTaskSubmitService;
import io.punctual.spring.SubmitObservations;
import io.punctual.spring.TransactionCalls;
import io.punctual.spring.client.PunctualClientAutoConfiguration;
import io.punctual.spring.once.OnceFilters;
import io.punctual.worker.AttemptObservations;
import io.punctual.worker.JobListeners;
import io.punctual.worker.TaskWorkers;
import io.punctual.worker.WorkerSetupException;
import java.time.InstantSource;
import java.util.UUID;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.thread.Threading;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import tools.jackson.databind.json.JsonMapper;

/**
 * Workers, submitting and the engine between them, in one process. Beside the client starter it
 * runs the jobs that are in its Redis, and shares workers and all else with that one.
 */
@AutoConfiguration(after = PunctualClientAutoConfiguration.class)
@ConditionalOnBean(Store.class)
@ConditionalOnProperty(prefix = "punctual.plugin", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(PunctualPluginProperties.class)
public class PunctualPluginAutoConfiguration {

  @Bean
  PluginIdentity punctualPluginIdentity(
      PunctualPluginProperties properties, Environment environment) {
    String configured = properties.application();
    String application =
        configured != null ? configured : environment.getProperty("spring.application.name", "");
    if (!Limits.isName(application)) {
      throw new WorkerSetupException(
          "The application has no usable name for its jobs: '" + application + "'.",
          "Set spring.application.name, or punctual.plugin.application; it "
              + Limits.NAME_RULE
              + ".");
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
  @ConditionalOnMissingBean
  TaskWorkers punctualWorkers(
      ListableBeanFactory beans,
      AnnotatedWorkers annotated,
      PluginTasks tasks,
      ObjectProvider<OnceFilters> once) {
    TaskWorkers workers = new TaskWorkers(beans.getBeansOfType(TaskWorker.class));
    annotated.addTo(workers);
    once.ifAvailable(filters -> filters.apply(workers, tasks::once));
    return workers;
  }

  @Bean
  @ConditionalOnMissingBean
  AnnotatedWorkers punctualAnnotatedWorkers(
      ConfigurableListableBeanFactory beans, Payloads payloads) {
    return new AnnotatedWorkers(beans, payloads);
  }

  @Bean
  PluginTasks punctualTasks(
      ObjectProvider<TaskWorkers> workers,
      AnnotatedWorkers annotated,
      PunctualPluginProperties properties) {
    return new PluginTasks(workers::getObject, annotated::settings, properties);
  }

  @Bean
  InProcessDispatcher punctualDispatcher(
      PluginIdentity identity,
      PluginTasks tasks,
      ObjectProvider<JobListener> listeners,
      ObjectProvider<AttemptObservations> observations,
      Environment environment) {
    SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("punctual-job-");
    threads.setVirtualThreads(Threading.VIRTUAL.isActive(environment));
    threads.setDaemon(true);
    return new InProcessDispatcher(
        identity.application(),
        identity.instance(),
        tasks,
        new JobListeners(listeners.orderedStream().toList()),
        observations.getIfAvailable(() -> AttemptObservations.NONE),
        threads);
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
      PunctualPluginProperties properties,
      PluginTasks tasks) {
    return submitService(scheduler, payloads, committed, outbox, observations, properties, tasks);
  }

  @Bean
  PluginLifecycle punctualPluginLifecycle(
      Engine engine,
      InProcessDispatcher dispatcher,
      PluginIdentity identity,
      TaskWorkers workers,
      PunctualPluginProperties properties) {
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

    @Bean
    @Primary
    TaskSubmitService punctualPluginTaskSubmitService(
        @Qualifier("punctualPluginJobScheduler") JobScheduler scheduler,
        Payloads payloads,
        CommittedCalls committed,
        ObjectProvider<TransactionCalls> outbox,
        ObjectProvider<SubmitObservations> observations,
        PunctualPluginProperties properties,
        PluginTasks tasks) {
      return submitService(scheduler, payloads, committed, outbox, observations, properties, tasks);
    }
  }

  private static TaskSubmitService submitService(
      JobScheduler scheduler,
      Payloads payloads,
      CommittedCalls committed,
      ObjectProvider<TransactionCalls> outbox,
      ObjectProvider<SubmitObservations> observations,
      PunctualPluginProperties properties,
      PluginTasks tasks) {
    return new SpringTaskSubmitService(
        scheduler,
        payloads,
        tasks::submitted,
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
