package io.punctual.client.callback;

import org.junit.jupiter.api.Tag;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** A proxy before Tomcat. */
@Tag("full")
class ProxyIT extends ProxyContract {

  @Override
  ConfigurableApplicationContext start(String... options) {
    return new SpringApplicationBuilder(CallbackContract.Shop.class)
        .web(WebApplicationType.SERVLET)
        .properties("server.servlet.context-path=/ctx")
        .run(options);
  }
}
