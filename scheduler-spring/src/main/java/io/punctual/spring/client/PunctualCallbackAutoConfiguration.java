package io.punctual.spring.client;

import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.callback.CallbackGuard;
import io.punctual.client.callback.CallbackHandler;
import io.punctual.client.json.Json;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.spring.client.servlet.ServletCallback;
import io.punctual.wire.WorkerMetadata;
import io.punctual.worker.TaskWorkers;
import java.time.InstantSource;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;

/** The path that schedulers call. */
@AutoConfiguration(after = PunctualClientAutoConfiguration.class)
@ConditionalOnBean(JobRunner.class)
@ConditionalOnProperty(
    prefix = "punctual.client",
    name = "delivery",
    havingValue = "push",
    matchIfMissing = true)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
public class PunctualCallbackAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  CallbackHandler punctualCallbackHandler(
      ClientIdentity identity,
      JobRunner runner,
      SchedulerCalls calls,
      Json json,
      PunctualClientProperties properties,
      ObjectProvider<AdvertisedCallback> advertised) {
    CallbackGuard guard =
        new CallbackGuard(
            properties.callback().keys(),
            properties.callback().acceptUnsigned(),
            InstantSource.system());
    return new CallbackHandler(
        identity,
        runner,
        calls,
        json,
        guard,
        properties.callback().maxBody().toBytes(),
        advertised::getIfAvailable);
  }

  /** Before all other mappings, so that no catch-all of the application takes the path. */
  @Bean
  SimpleUrlHandlerMapping punctualCallbackMapping(
      CallbackHandler handler, PunctualClientProperties properties) {
    return new SimpleUrlHandlerMapping(
        Map.of(properties.callback().path(), new ServletCallback(handler)),
        Ordered.HIGHEST_PRECEDENCE);
  }

  /** What the registry is told. */
  @Bean
  WorkerMetadata punctualWorkerMetadata(
      TaskWorkers workers, PunctualClientProperties properties, Environment environment) {
    return new WorkerMetadata(
        workers.types(),
        CallbackPath.of(environment, properties.callback().path()),
        WorkerMetadata.BATCH,
        properties.concurrency());
  }

  @Bean
  StartupReport punctualStartupReport(
      ClientIdentity identity,
      TaskWorkers workers,
      SchedulerLocator locator,
      WorkerMetadata metadata,
      Environment environment) {
    return new StartupReport(identity, workers, locator, metadata, environment);
  }
}
