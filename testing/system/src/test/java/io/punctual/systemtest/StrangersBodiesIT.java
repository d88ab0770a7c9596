package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.worker.WorkerApplication;
import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Strangers send an application with a small heap large bodies, over many connections. */
@Tag("full")
class StrangersBodiesIT {

  private static final int CONNECTIONS = 60;
  private static final int EACH = 6_000_000;
  private static final String SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

  @Test
  void strangersDoNotFillTheHeapOfAnApplication(@TempDir Path directory) throws Exception {
    Programs small =
        new Programs(
            Path.of("target", "strangers"),
            List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    try (JavaProcess application =
        small.application(
            WorkerApplication.class,
            "--" + WorkerApplication.RECORD + "=" + directory.resolve("record"),
            "--spring.application.name=shop",
            "--punctual.callback.secrets=" + SECRET)) {
      application.start().awaitReady();
      String now = Long.toString(Instant.now().getEpochSecond());
      flood(application, "", 16_000_000);
      // What only the body could disprove. Each id is another one.
      flood(
          application,
          "webhook-id: forged_%d\r\nwebhook-timestamp: "
              + now
              + "\r\nwebhook-signature: v1,"
              + "A".repeat(43)
              + "=\r\n",
          EACH + 1);
      Waiting.until("a scheduler's call is taken", () -> ping(application) == 200);
      assertThat(Files.readString(application.log())).doesNotContain("OutOfMemoryError");
    }
  }

  private static void flood(JavaProcess application, String headers, int announced)
      throws Exception {
    List<Socket> open = new ArrayList<>();
    try {
      for (int i = 0; i < CONNECTIONS; i++) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), application.port());
        open.add(socket);
        String head =
            "POST /punctual/callback HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\n"
                + headers.formatted(i)
                + "Content-Length: "
                + announced
                + "\r\n\r\n";
        socket.getOutputStream().write(head.getBytes(StandardCharsets.ISO_8859_1));
      }
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (Socket socket : open) {
          var unused =
              threads.submit(
                  () -> {
                    socket.getOutputStream().write(new byte[EACH]);
                    return null;
                  });
        }
      }
      // All of them are still there.
      assertThat(Http.get(application.url() + "/actuator/health").status()).isEqualTo(200);
    } finally {
      for (Socket socket : open) {
        socket.close();
      }
    }
  }

  private static int ping(JavaProcess application) throws IOException, InterruptedException {
    byte[] body = "{\"application\":\"shop\",\"jobs\":[]}".getBytes(StandardCharsets.UTF_8);
    String id = "ping_" + System.nanoTime();
    String now = Long.toString(Instant.now().getEpochSecond());
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(application.url() + "/punctual/callback"))
            .header(CallbackSignature.ID, id)
            .header(CallbackSignature.TIMESTAMP, now)
            .header(
                CallbackSignature.SIGNATURE,
                CallbackSignature.sign(List.of(CallbackSignature.Key.parse(SECRET)), id, now, body))
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    return Http.CLIENT.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }
}
