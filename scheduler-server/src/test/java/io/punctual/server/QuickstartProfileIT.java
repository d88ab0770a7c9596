package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.SpringBootTest;

/** Open to this machine, and to no web page in its browser. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class QuickstartProfileIT extends SharedRedisTestBase {

  @Test
  void itListensAtTheAddressOfThisMachineAlone() throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      assertThat(socket.isConnected()).isTrue();
    }
    // On Linux also this machine's, and reached where something listens at all addresses.
    for (String other : List.of("127.0.0.2", InetAddress.getLocalHost().getHostAddress())) {
      if (!other.equals("127.0.0.1")) {
        assertThatThrownBy(
                () -> {
                  try (Socket socket = new Socket()) {
                    socket.connect(new InetSocketAddress(other, port), 1_000);
                  }
                })
            .as(other)
            .isInstanceOf(IOException.class);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "localhost:PORT | - | 200",
        "127.0.0.1:PORT | - | 200",
        "localhost:PORT | Sec-Fetch-Site: same-origin | 200",
        "localhost:PORT | Sec-Fetch-Site: none | 200",
        "localhost:PORT | Sec-Fetch-Site: cross-site | 403",
        "localhost:PORT | Sec-Fetch-Site: same-site | 403",
        "localhost:PORT | Origin: https://evil.example | 403",
        "localhost:PORT | Origin: null | 403",
        "evil.example | - | 403",
        "evil.example:PORT | - | 403",
        "localhost.evil.example:PORT | - | 403",
        "10.1.2.3:PORT | - | 403"
      })
  void onlyThisMachineItselfIsLetIn(String host, String header, int status) {
    String request =
        "GET /api/v1/queues HTTP/1.1\r\nHost: "
            + host.replace("PORT", Integer.toString(port))
            + "\r\nConnection: close\r\n"
            + (header == null ? "" : header + "\r\n")
            + "\r\n";
    ApiClient.Answer answer = ApiClient.raw(port, request);
    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.header("Content-Security-Policy")).contains("default-src 'none'");
  }
}
