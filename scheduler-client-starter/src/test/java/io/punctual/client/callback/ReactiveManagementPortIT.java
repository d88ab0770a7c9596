package io.punctual.client.callback;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Import;

/** A WebFlux application on Netty with a management port: where it is called. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    classes = CallbackContract.Shop.class,
    properties = {
      CallbackContract.NAME,
      CallbackContract.NO_EUREKA,
      CallbackContract.UNSIGNED,
      "punctual.url=http://127.0.0.1:1",
      "spring.main.web-application-type=reactive",
      "spring.webflux.base-path=/ctx",
      "management.server.port=0",
      // Tomcat is on the class path, too.
      "spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration",
      "management.endpoints.web.exposure.include=punctual,health"
    })
@Import(ReactiveCallbackIT.WebFlux.class)
class ReactiveManagementPortIT {

  @Autowired CallbackContract.Shop shop;
  @LocalServerPort int port;
  @LocalManagementPort int managementPort;
  private final HttpClient client = HttpClient.newHttpClient();

  @Test
  void jobsComeOnTheApplicationsPortAndOnNoOther() throws Exception {
    assertThat(call(port, "/ctx/punctual/callback", "first").statusCode()).isEqualTo(200);
    for (String path : new String[] {"/ctx/punctual/callback", "/punctual/callback"}) {
      assertThat(call(managementPort, path, "second").statusCode()).isBetween(400, 499);
    }

    assertThat(shop.seen).contains("first").doesNotContain("second");
  }

  private HttpResponse<String> call(int port, String path, String params) throws Exception {
    String body = CallbackContract.request("shop", CallbackContract.job("record", params, 1));
    return client.send(
        HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
            .header("Content-Type", "application/json")
            .timeout(Duration.ofSeconds(30))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }
}
