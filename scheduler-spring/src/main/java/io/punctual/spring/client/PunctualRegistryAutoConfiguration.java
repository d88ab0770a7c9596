package io.punctual.spring.client;

import io.punctual.spring.client.registry.RegistryPasswords;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.cloud.netflix.eureka.EurekaClientConfigBean;
import org.springframework.context.annotation.Bean;

/** Keeps the registry's password out of the log. */
@AutoConfiguration
@ConditionalOnClass(EurekaClientConfigBean.class)
@ConditionalOnProperty(prefix = "punctual", name = "enabled", matchIfMissing = true)
public class PunctualRegistryAutoConfiguration {

  @Bean
  static RegistryPasswords punctualRegistryPasswords(ListableBeanFactory beans) {
    return new RegistryPasswords(beans);
  }
}
