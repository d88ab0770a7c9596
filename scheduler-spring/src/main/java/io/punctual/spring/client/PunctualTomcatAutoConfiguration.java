package io.punctual.spring.client;

import io.punctual.client.callback.CallbackHandler;
import io.punctual.spring.client.servlet.TomcatDrop;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;

/** Where the application runs in Tomcat: whoever sends a callback too slowly is let go. */
@AutoConfiguration(after = PunctualCallbackAutoConfiguration.class)
@ConditionalOnClass(ConfigurableTomcatWebServerFactory.class)
@ConditionalOnBean(CallbackHandler.class)
public class PunctualTomcatAutoConfiguration {

  @Bean
  static WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> punctualTomcatDrop() {
    return factory -> factory.addEngineValves(new TomcatDrop());
  }
}
