package io.punctual.registry;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** How the registry starts, and when it does not. */
@ExtendWith(OutputCaptureExtension.class)
class RegistryStartIT {

  @ParameterizedTest
  @ValueSource(strings = {"", "ChangeMe-12345678"})
  void itDoesNotStartWithABadPassword(String password, CapturedOutput output) {
    assertThatThrownBy(() -> Registry.start("--punctual.registry.password=" + password).close())
        .hasRootCauseInstanceOf(RegistrySetupException.class);

    assertThat(output.getAll())
        .contains("APPLICATION FAILED TO START")
        .contains("punctual.registry.password")
        .contains("PUNCTUAL_REGISTRY_PASSWORD")
        .contains("openssl rand -hex 32");
    if (!password.isEmpty()) {
      assertThat(output.getAll()).doesNotContain(password);
    }
  }

  @Test
  void quickstartIsOpenAndReachedFromThisMachineOnly() throws Exception {
    try (Registry registry = Registry.start("--spring.profiles.active=quickstart")) {
      assertThat(registry.register("SHOP", null).statusCode()).isEqualTo(204);
      assertThat(registry.get("/eureka/apps/SHOP", null).body()).contains("\"SHOP:1\"");
      assertThat(registry.get("/", null).statusCode()).isEqualTo(200);
      assertThat(registry.get("/actuator/env", null).statusCode()).isEqualTo(404);

      for (InetAddress other :
          NetworkInterface.networkInterfaces()
              .flatMap(NetworkInterface::inetAddresses)
              .filter(address -> !address.isLoopbackAddress())
              .toList()) {
        assertThatThrownBy(
                () -> {
                  try (Socket socket = new Socket()) {
                    socket.connect(new InetSocketAddress(other, registry.port()), 1_000);
                  }
                })
            .as(other.toString())
            .isInstanceOf(java.io.IOException.class);
      }

      // A name that a page in the browser made to mean 127.0.0.1.
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), registry.port())) {
        socket
            .getOutputStream()
            .write("GET /eureka/apps HTTP/1.0\r\nHost: evil.example\r\n\r\n".getBytes(US_ASCII));
        assertThat(new String(socket.getInputStream().readAllBytes(), US_ASCII))
            .startsWith("HTTP/1.1 400")
            .doesNotContain("SHOP");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0", ""})
  void quickstartDoesNotStartWhereOthersReachIt(String address, CapturedOutput output) {
    assertThatThrownBy(
            () ->
                Registry.start("--spring.profiles.active=quickstart", "--server.address=" + address)
                    .close())
        .hasRootCauseInstanceOf(RegistrySetupException.class);

    assertThat(output.getAll())
        .contains("APPLICATION FAILED TO START")
        .contains("server.address is")
        .contains("quickstart");
  }
}
