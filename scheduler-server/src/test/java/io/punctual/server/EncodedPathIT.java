package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;

/** A path that is written with percent signs is the same path: no limit and no rule is skipped. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
@Isolated // It fills the memory for bodies.
class EncodedPathIT extends SharedRedisTestBase {

  private static final int BODY = 15 << 20;

  @ParameterizedTest
  @ValueSource(strings = {"/api/v1/jobs/batch", "/%61pi/v1/jobs/batch", "/ap%69/v1/job%73/batch"})
  void bodiesAreLimitedHoweverThePathIsWritten(String path) throws IOException {
    // Larger than what is left beside the bodies that are under way.
    String large = " ".repeat(BODY) + "{\"jobs\":[]}";
    int enough = (int) (Runtime.getRuntime().maxMemory() / 16 / BODY) + 2;
    List<Socket> open = new ArrayList<>();
    try {
      byte[] part = "x".repeat(1 << 20).getBytes(StandardCharsets.US_ASCII);
      for (int i = 0; i < enough; i++) {
        Socket socket = new Socket("localhost", port);
        open.add(socket);
        OutputStream out = socket.getOutputStream();
        out.write(
            ("POST "
                    + path
                    + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: "
                    + (BODY + 10)
                    + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII));
        for (int sent = 0; sent < BODY; sent += part.length) {
          out.write(part);
        }
        out.flush();
      }
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> api.post(path, large).status() == 503);
    } finally {
      for (Socket socket : open) {
        socket.close();
      }
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> api.post(path, large).status() == 400);
  }

  @Test
  void theConsoleIsTheConsoleHoweverItsPathIsWritten() {
    Answer page = api.get("/c%6fnsole/queues");
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.header("Content-Security-Policy")).contains("script-src 'self'");
    assertThat(api.get("/c%6fnsole/nowhere").contentType()).startsWith("text/html");
    Answer command = api.post("/api/v1/c%6fmmand", "{\"command\":\"eat\"}");
    assertThat(command.at("/success")).isEqualTo("false");
  }
}
