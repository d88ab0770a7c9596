package io.punctual.client.callback;

import org.junit.jupiter.api.Tag;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** A proxy before Netty. */
@Tag("full")
class ReactiveProxyIT extends ProxyContract {

  @Override
  ConfigurableApplicationContext start(String... options) {
    return new SpringApplicationBuilder(
            CallbackContract.Shop.class, ReactiveCallbackIT.WebFlux.class)
        .web(WebApplicationType.REACTIVE)
        .properties("spring.webflux.base-path=/ctx")
        .run(options);
  }
}
