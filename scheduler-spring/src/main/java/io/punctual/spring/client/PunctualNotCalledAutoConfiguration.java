package io.punctual.spring.client;

import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.CallbackHandler;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.internal.TaskWorkers;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Warns that schedulers cannot call this instance, mostly because it has no web server. */
@AutoConfiguration(after = PunctualCallbackAutoConfiguration.class)
@ConditionalOnBean(JobRunner.class)
@ConditionalOnMissingBean(CallbackHandler.class)
@ConditionalOnProperty(
    prefix = "punctual",
    name = "delivery",
    havingValue = "push",
    matchIfMissing = true)
public class PunctualNotCalledAutoConfiguration {

  @Bean
  NotCalledReport punctualNotCalledReport(
      ClientIdentity identity, TaskWorkers workers, SchedulerLocator locator) {
    return new NotCalledReport(identity, workers, locator);
  }
}
