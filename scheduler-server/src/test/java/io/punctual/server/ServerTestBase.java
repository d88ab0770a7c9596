package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;

/** A scheduler and a client of it. */
public abstract class ServerTestBase {

  @LocalServerPort protected int port;
  protected ApiClient api;

  @BeforeEach
  void connectApi() {
    api = new ApiClient(port);
  }

  /** A page of the console of a scheduler without a login. */
  String page(String path) throws Exception {
    try (HttpClient browser = HttpClient.newHttpClient()) {
      HttpResponse<String> page =
          browser.send(
              HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/console" + path))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(page.statusCode()).as(path).isEqualTo(200);
      return page.body();
    }
  }

  @AfterEach
  void closeApi() {
    api.close();
  }

  /** An instance of an application, as the registry would say it, that runs order.close. */
  protected static void instance(
      DynamicPropertyRegistry registry, String app, int index, int port, String protocol) {
    String at = "spring.cloud.discovery.client.simple.instances." + app + "[" + index + "].";
    registry.add(at + "uri", () -> "http://127.0.0.1:" + port);
    registry.add(at + "instance-id", () -> app + "-" + index);
    registry.add(at + "metadata[punctual.task-types]", () -> "order.close");
    registry.add(at + "metadata[punctual.callback-path]", () -> "/callback/" + app);
    registry.add(at + "metadata[punctual.protocol]", () -> protocol);
    registry.add(at + "metadata[punctual.concurrency]", () -> "100");
  }
}
