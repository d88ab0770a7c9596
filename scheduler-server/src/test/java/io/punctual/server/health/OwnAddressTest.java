package io.punctual.server.health;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.punctual.redis.Ports;
import io.punctual.server.probe.Status;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import org.junit.jupiter.api.Test;

class OwnAddressTest {

  private static String failure(String address) {
    return String.valueOf(OwnAddress.failure(URI.create(address)));
  }

  private static HttpServer answering(int status) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/api/v1/openapi.yaml",
        exchange -> {
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    server.start();
    return server;
  }

  @Test
  void itSaysWhyNobodyIsReached() throws IOException {
    assertThat(failure("http://127.0.0.1:" + Ports.free())).isEqualTo("the connection is refused");
    assertThat(failure("https://127.0.0.1:" + Ports.free())).isEqualTo("the connection is refused");
    assertThat(failure("http://no-such-host.invalid:8080")).isEqualTo("is no host of that name");
    assertThat(failure("https://no-such-host.invalid:8080")).isEqualTo("is no host of that name");
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(failure("http://127.0.0.1:" + silent.getLocalPort()))
          .isEqualTo("no answer comes in time");
    }
    HttpServer other = answering(404);
    HttpServer scheduler = answering(200);
    try {
      assertThat(failure("http://127.0.0.1:" + other.getAddress().getPort()))
          .isEqualTo("something else answers, with HTTP 404");
      assertThat(
              OwnAddress.failure(
                  URI.create("http://127.0.0.1:" + scheduler.getAddress().getPort())))
          .isNull();
    } finally {
      other.stop(0);
      scheduler.stop(0);
    }
  }

  @Test
  void anAddressAtWhichNobodyAnswersIsAProblemWithARemedy() {
    URI address = URI.create("http://192.0.2.2:18080");
    Finding bad = OwnAddress.finding(address, "no answer comes in time");
    assertThat(bad.severity()).isEqualTo(Status.PROBLEM);
    assertThat(bad.text()).contains("http://192.0.2.2:18080, and there no answer comes in time");
    assertThat(bad.remedy()).contains("eureka.instance.hostname", "server.address");
    assertThat(OwnAddress.finding(address, null).severity()).isEqualTo(Status.OK);
  }
}
