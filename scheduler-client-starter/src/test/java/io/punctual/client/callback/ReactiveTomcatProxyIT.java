package io.punctual.client.callback;

import org.junit.jupiter.api.Tag;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.tomcat.reactive.TomcatReactiveWebServerFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** A proxy before a reactive application on Tomcat. */
@Tag("full")
class ReactiveTomcatProxyIT extends ProxyContract {

  @Override
  ConfigurableApplicationContext start(String... options) {
    return new SpringApplicationBuilder(CallbackContract.Shop.class, OnTomcat.class)
        .web(WebApplicationType.REACTIVE)
        .properties("spring.webflux.base-path=/ctx")
        .run(options);
  }

  @TestConfiguration
  static class OnTomcat {

    @Bean
    TomcatReactiveWebServerFactory tomcat() {
      return new TomcatReactiveWebServerFactory();
    }
  }
}
