package io.punctual.spring.client;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.EurekaInstanceConfig;
import com.netflix.discovery.EurekaClient;
import io.punctual.client.callback.CallbackHandler;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.client.registry.EurekaRegistration;
import io.punctual.wire.WorkerMetadata;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Configures the metadata and intervals of Eureka's client. */
@AutoConfiguration(
    after = PunctualCallbackAutoConfiguration.class,
    afterName = "org.springframework.cloud.netflix.eureka.EurekaClientAutoConfiguration")
@ConditionalOnClass(ApplicationInfoManager.class)
@ConditionalOnBean({CallbackHandler.class, WorkerMetadata.class, ApplicationInfoManager.class})
@ConditionalOnProperty(
    prefix = "punctual",
    name = "registration",
    havingValue = "registry",
    matchIfMissing = true)
public class PunctualEurekaAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(InstanceRegistration.class)
  EurekaRegistration punctualEurekaRegistration(
      ApplicationInfoManager registration,
      EurekaInstanceConfig settings,
      WorkerMetadata metadata,
      TaskWorkers workers,
      ObjectProvider<EurekaClient> client) {
    return new EurekaRegistration(
        registration, settings, () -> metadata.withTaskTypes(workers.types()), client);
  }
}
