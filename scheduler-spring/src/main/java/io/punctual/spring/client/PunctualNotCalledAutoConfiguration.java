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

/** Where jobs should be pushed and there is no path for that, mostly for want of a web server. */
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
