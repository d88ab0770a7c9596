package io.punctual.server.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A scheduler that takes connections and does not answer, or not to the end. */
class SchedulerHttpTest {

  @ParameterizedTest
  @ValueSource(strings = {"", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"})
  @Timeout(60)
  void aStalledSchedulerIsNamedAfterABoundedTime(String answer) throws Exception {
    try (ServerSocket stalled = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      URI url = URI.create("http://127.0.0.1:" + stalled.getLocalPort());
      Thread server =
          Thread.startVirtualThread(
              () -> {
                try (Socket connection = stalled.accept()) {
                  connection.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
                  assertThat(connection.getInputStream().readAllBytes()).isNotEmpty();
                } catch (IOException e) {
                  // The client has given up.
                }
              });
      Submissions submissions =
          new Submissions(new SchedulerHttp(url, "", Duration.ofSeconds(1)), "shop", "order.close");

      assertThatThrownBy(() -> submissions.submit(List.of()))
          .isInstanceOf(UnavailableException.class)
          .hasMessage(url + "/api/v1/jobs/batch did not answer within 1 s");
      server.join();
    }
  }
}
