package io.punctual.spring.autoconfigure;

import io.punctual.TaskSubmitService;
import io.punctual.spring.modulith.ExternalizedJobs;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.core.ConditionalEventListener;

/** Jobs of events, where the application has Spring Modulith and externalizes events. */
@AutoConfiguration(
    afterName = {
      "io.punctual.spring.client.PunctualClientAutoConfiguration",
      "io.punctual.spring.plugin.PunctualPluginAutoConfiguration",
      "org.springframework.modulith.events.config.EventExternalizationAutoConfiguration"
    })
@ConditionalOnClass({ConditionalEventListener.class, EventExternalizationConfiguration.class})
@ConditionalOnBean({TaskSubmitService.class, EventExternalizationConfiguration.class})
public class PunctualModulithAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  ExternalizedJobs punctualExternalizedJobs(
      ObjectProvider<TaskSubmitService> tasks, EventExternalizationConfiguration configuration) {
    return new ExternalizedJobs(tasks::getObject, configuration);
  }
}
