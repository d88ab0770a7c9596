package io.punctual.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Two registries that copy to each other. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class PeersIT {

  private static final String USER = "punctual:" + Registry.PASSWORD;

  @Test
  void whatRegistersAtOneIsSeenAtTheOtherAndNoPasswordIsLogged(CapturedOutput output)
      throws Exception {
    int one = freePort();
    int two = freePort();
    // The first one finds its peer away, and begins to copy when it is there.
    try (Registry first = start(one, "localhost", two, "127.0.0.1")) {
      assertThat(first.register("EARLY", USER).statusCode()).isEqualTo(204);
      try (Registry second = start(two, "127.0.0.1", one, "localhost")) {
        await(second, "EARLY");
        assertThat(second.register("LATE", USER).statusCode()).isEqualTo(204);
        await(first, "LATE");
      }
      assertThat(first.register("LATEST", USER).statusCode()).isEqualTo(204);
    }
    assertThat(output.getAll())
        .contains("eureka")
        .doesNotContain(
            Registry.PASSWORD,
            Base64.getEncoder().encodeToString(USER.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void aPasswordInAPeersAddressIsRefused(CapturedOutput output) {
    assertThatThrownBy(
            () ->
                Registry.start(
                        "--punctual.registry.password=" + Registry.PASSWORD,
                        "--eureka.client.service-url.defaultZone=http://"
                            + USER
                            + "@registry-2:8761/eureka/")
                    .close())
        .hasRootCauseInstanceOf(RegistrySetupException.class);
    assertThat(output.getAll())
        .contains("eureka.client.service-url.defaultZone has a user or password in it")
        .doesNotContain(Registry.PASSWORD);
  }

  private static Registry start(int port, String name, int peer, String peerName) {
    return Registry.start(
        "--server.port=" + port,
        "--punctual.registry.password=" + Registry.PASSWORD,
        "--eureka.instance.hostname=" + name,
        "--eureka.client.register-with-eureka=true",
        "--eureka.client.fetch-registry=true",
        "--eureka.client.service-url.defaultZone=http://" + peerName + ":" + peer + "/eureka/");
  }

  private static void await(Registry registry, String application) {
    Awaitility.await(application + " is copied")
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> registry.get("/eureka/apps/" + application, USER).body().contains(application));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
