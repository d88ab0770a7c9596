package io.punctual.client.callback;

import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

/** Behind Netty. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    classes = CallbackBodiesContract.Shop.class,
    properties = {
      "spring.application.name=shop",
      "eureka.client.enabled=false",
      "spring.main.web-application-type=reactive",
      // Its callers are gone.
      "server.shutdown=immediate"
    })
class ReactiveCallbackBodiesIT extends CallbackBodiesContract {

  @TestConfiguration
  static class WebFlux {

    @Bean
    NettyReactiveWebServerFactory netty() {
      return new NettyReactiveWebServerFactory();
    }
  }
}
