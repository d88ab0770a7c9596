package io.punctual.spring.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.punctual.TaskSubmitService;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** An application behind a proxy. */
class SchedulerClientCustomizerTest {

  private final Queue<String> requests = new ConcurrentLinkedQueue<>();
  private HttpServer proxy;

  @BeforeEach
  void start() throws Exception {
    proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    proxy.createContext(
        "/",
        exchange -> {
          requests.add(exchange.getRequestURI().toString());
          byte[] body =
              "{\"taskId\":\"1\",\"delayTime\":1,\"outcome\":\"created\"}"
                  .getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(201, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    proxy.start();
  }

  @AfterEach
  void stop() {
    proxy.stop(0);
  }

  @Test
  void schedulersAreCalledThroughTheProxyThatABeanSets() {
    new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(PunctualClientAutoConfiguration.class))
        .withPropertyValues("spring.application.name=shop", "punctual.url=http://scheduler.example")
        .withBean(
            SchedulerClientCustomizer.class,
            () -> client -> client.proxy(ProxySelector.of(proxy.getAddress())))
        .run(
            context -> {
              context.getBean(TaskSubmitService.class).send("order.close", "1", Duration.ZERO);
              assertThat(requests).containsExactly("http://scheduler.example/api/v1/jobs");
            });
  }
}
