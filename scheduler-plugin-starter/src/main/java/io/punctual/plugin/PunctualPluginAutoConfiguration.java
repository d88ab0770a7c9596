package io.punctual.plugin;

import io.punctual.Limits;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.core.engine.Engine;
import io.punctual.core.engine.EngineOptions;
import io.punctual.core.store.RedisStore;
import java.util.UUID;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.thread.Threading;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Workers, submitting and the engine between them, in one process. */
@AutoConfiguration(
    afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnProperty(prefix = "punctual.plugin", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(PunctualPluginProperties.class)
public class PunctualPluginAutoConfiguration {

  @Bean
  PluginIdentity punctualPluginIdentity(
      PunctualPluginProperties properties, Environment environment) {
    String configured = properties.application();
    String application =
        configured != null ? configured : environment.getProperty("spring.application.name", "");
    if (!Limits.NAME.matcher(application).matches()) {
      throw new PluginStartException(
          "The application has no usable name for its jobs: '" + application + "'.",
          "Set spring.application.name, or punctual.plugin.application, to 1 to 128 characters of"
              + " [A-Za-z0-9._:-].");
    }
    return new PluginIdentity(
        application,
        ProcessHandle.current().pid() + "@" + UUID.randomUUID().toString().substring(0, 8));
  }

  @Bean
  Workers punctualWorkers(ListableBeanFactory beans) {
    return new Workers(beans.getBeansOfType(TaskWorker.class));
  }

  @Bean
  InProcessDispatcher punctualDispatcher(
      PluginIdentity identity,
      ObjectProvider<Workers> workers,
      PunctualPluginProperties properties,
      Environment environment) {
    SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("punctual-job-");
    threads.setVirtualThreads(Threading.VIRTUAL.isActive(environment));
    threads.setDaemon(true);
    return new InProcessDispatcher(
        identity.application(),
        identity.instance(),
        workers::getObject,
        properties.concurrency(),
        threads);
  }

  @Bean(destroyMethod = "close")
  PluginRedis punctualRedis(
      RedisConnectionFactory application, ObjectProvider<DataRedisConnectionDetails> details) {
    DataRedisConnectionDetails known = details.getIfUnique();
    return PluginRedis.of(application, new Tls(known == null ? null : known.getSslBundle()));
  }

  @Bean
  @ConditionalOnMissingBean
  Engine punctualEngine(
      PluginRedis redis,
      PunctualPluginProperties properties,
      PluginIdentity identity,
      InProcessDispatcher dispatcher) {
    Engine engine =
        Engine.create(
            RedisStore.connect(redis.connections(), properties.storeOptions()),
            EngineOptions.defaults(identity.instance()),
            dispatcher);
    dispatcher.onCapacity(engine::capacityChanged);
    return engine;
  }

  @Bean
  @ConditionalOnMissingBean
  TaskSubmitService punctualTaskSubmitService(PluginIdentity identity, Engine engine) {
    return new EngineSubmitService(identity.application(), engine);
  }

  @Bean
  PluginLifecycle punctualPluginLifecycle(
      Engine engine,
      InProcessDispatcher dispatcher,
      PluginIdentity identity,
      Workers workers,
      PunctualPluginProperties properties) {
    return new PluginLifecycle(
        engine, dispatcher, identity.application(), workers.types(), properties.shutdownPatience());
  }
}
