package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.test.redis.RedisExtension;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Open to this machine, and to no web page in its browser. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class QuickstartProfileIT {

  @LocalServerPort private int port;

  @DynamicPropertySource
  static void redis(DynamicPropertyRegistry registry) {
    registry.add("spring.data.redis.host", () -> RedisExtension.redis().host());
    registry.add("spring.data.redis.port", () -> RedisExtension.redis().port());
    String prefix = "quick-" + UUID.randomUUID().toString().substring(0, 8);
    registry.add("punctual.key-prefix", () -> prefix);
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
    assertThat(ApiClient.raw(port, request).status()).isEqualTo(status);
  }
}
