package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Ports;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Strangers who hold all connections keep operators out of nothing. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "eureka.client.enabled=false",
      "server.tomcat.max-connections=20",
      "server.tomcat.accept-count=1",
      SharedRedisTestBase.ALONE + "=OperatorPortIT"
    })
@Tag("full")
class OperatorPortIT extends SharedRedisTestBase {

  private static final int OPERATOR_PORT = Ports.free();
  private static final int STRANGERS = 40;

  @DynamicPropertySource
  static void port(DynamicPropertyRegistry registry) {
    registry.add("punctual.operator-port", () -> OPERATOR_PORT);
  }

  /** A request whose head is never ended. */
  private Socket halfOfAHead() throws IOException {
    Socket socket = new Socket();
    socket.connect(new InetSocketAddress("localhost", port), 200);
    socket
        .getOutputStream()
        .write("GET /api/v1/queues HTTP/1.1\r\nHost: local".getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private boolean isAnswered() throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress("localhost", port), 2_000);
      socket.setSoTimeout(2_000);
      socket
          .getOutputStream()
          .write(
              "GET /actuator/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      return socket.getInputStream().read() >= 0;
    } catch (SocketTimeoutException e) {
      return false;
    }
  }

  @Test
  void healthMetricsAndConsoleAreServedWhileAllConnectionsAreHeld() throws IOException {
    List<Socket> strangers = new ArrayList<>();
    try (ApiClient operator = new ApiClient(OPERATOR_PORT)) {
      assertThat(isAnswered()).isTrue();
      for (int i = 0; i < STRANGERS; i++) {
        try {
          strangers.add(halfOfAHead());
        } catch (IOException e) {
          // No more are let in, or not at once.
        }
      }
      assertThat(isAnswered()).as("the first port has no connection left").isFalse();

      assertThat(operator.get("/actuator/health").at("/status")).isNotEmpty();
      assertThat(operator.get("/actuator/prometheus").status()).isEqualTo(200);
      assertThat(operator.get("/console").status()).isEqualTo(200);
      assertThat(operator.get("/api/v1/doctor").status()).isEqualTo(200);
    } finally {
      for (Socket socket : strangers) {
        socket.close();
      }
    }
  }
}
