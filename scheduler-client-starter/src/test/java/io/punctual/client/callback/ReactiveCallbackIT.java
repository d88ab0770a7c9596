package io.punctual.client.callback;

import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/**
 * The callback in a WebFlux application on Netty, with a base path, Spring Security as it comes,
 * and a filter that lets no request through.
 */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    classes = CallbackContract.Shop.class,
    properties = {
      CallbackContract.NAME,
      CallbackContract.NO_EUREKA,
      CallbackContract.UNSIGNED,
      "spring.main.web-application-type=reactive",
      "spring.webflux.base-path=/ctx"
    })
class ReactiveCallbackIT extends CallbackContract {

  @TestConfiguration
  static class WebFlux {

    @Bean
    NettyReactiveWebServerFactory netty() {
      return new NettyReactiveWebServerFactory();
    }

    @Bean
    WebFilter closed() {
      return (exchange, chain) ->
          exchange.getRequest().getPath().value().endsWith("/callback")
              ? Mono.error(new IllegalStateException("the application's own filter"))
              : chain.filter(exchange);
    }
  }
}
