package io.punctual.client.callback;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.client.ClientIdentity;
import io.punctual.client.json.Jackson3Json;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;

/**
 * Checks what strangers and slow callers can make an application read, with any web server. Sends
 * raw requests, since no client does so.
 */
@ExtendWith(OutputCaptureExtension.class)
abstract class CallbackBodiesContract {

  private static final String SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

  private static final AtomicInteger IDS = new AtomicInteger();
  private static final String ANY_SIGNATURE = "v1," + "A".repeat(43) + "=";
  private static final int LARGEST = 1 << 20;
  private static final int MOST = 5 << 19;

  @LocalServerPort int port;
  @Autowired private CallbackBodies bodies;

  @Test
  void aCallerThatBreaksOffFillsNoLog(CapturedOutput output) throws Exception {
    for (Head head :
        List.of(
            Head.of(null, null, null),
            Head.of("msg_" + IDS.incrementAndGet(), now(0), ANY_SIGNATURE))) {
      try (Socket socket = connect()) {
        socket.getOutputStream().write(head.length(LARGEST));
        socket.getOutputStream().write(new byte[1000]);
      }
    }
    assertThat(before(Head.of(null, null, null))).startsWith("HTTP/1.1 401");
    assertThat(output).doesNotContain(" ERROR ");
  }

  @Test
  void whatHeadersCanTellIsAnsweredBeforeAByteOfTheBodyCame() throws Exception {
    String id = "msg_" + IDS.incrementAndGet();
    String now = now(0);
    assertThat(before(Head.of(null, null, null))).startsWith("HTTP/1.1 401").contains("unsigned");
    assertThat(before(Head.of(id, now, null))).startsWith("HTTP/1.1 401").contains("unsigned");
    assertThat(before(Head.of(id, null, ANY_SIGNATURE))).startsWith("HTTP/1.1 401");
    assertThat(before(Head.of(null, now, ANY_SIGNATURE))).startsWith("HTTP/1.1 401");
    assertThat(before(Head.of("a.b", now, ANY_SIGNATURE))).contains("401", "unsigned");
    assertThat(before(Head.of(id, "soon", ANY_SIGNATURE))).contains("401", "unsigned");
    assertThat(before(Head.of(id, now(-400), ANY_SIGNATURE))).contains("401", ": clock");
    assertThat(before(Head.of(id, now(400), ANY_SIGNATURE))).contains("401", ": clock");
    assertThat(before(Head.of(id, now, "v1,AAAA"))).contains("401", ": wrong-signature");
    String late = id + "_" + Instant.now().minusSeconds(60).toEpochMilli();
    assertThat(before(Head.of(late, now, ANY_SIGNATURE)))
        .startsWith("HTTP/1.1 421")
        .contains(": late");
    assertThat(before(Head.of(null, null, null).to("bank")))
        .startsWith("HTTP/1.1 421")
        .contains("other-application");
    // Only now the size matters.
    assertThat(before(Head.of(id, now, ANY_SIGNATURE)))
        .startsWith("HTTP/1.1 413")
        .contains("larger than " + LARGEST);
  }

  @Test
  void aCallerThatIsRefusedWhileSendingSeesTheAnswer() throws Exception {
    try (Socket socket = connect()) {
      OutputStream out = socket.getOutputStream();
      out.write(Head.of(null, null, null).length(10_000_000));
      out.write(new byte[10_000_000]);
      assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
          .startsWith("HTTP/1.1 401")
          .contains("punctual.security.signing-keys?");
    }
  }

  @Test
  void whatIsTooMuchForAllTogetherCostsNoAttempt() throws Exception {
    byte[] allButOne = new byte[LARGEST - 1];
    // Some servers see only after a while that the callers of other tests are gone.
    Awaitility.await().atMost(Duration.ofSeconds(40)).until(() -> bodies.held() == 0);
    try (Socket first = begun(allButOne);
        Socket second = begun(allButOne)) {
      // What has not been read does not count.
      Awaitility.await().until(() -> bodies.held() == 2L * allButOne.length);

      assertThat(ended(begun(allButOne)))
          .startsWith("HTTP/1.1 503")
          .contains("Retry-After: 2", "nothing was run");
      assertThat(ended(first)).startsWith("HTTP/1.1 401");
      assertThat(ended(second)).startsWith("HTTP/1.1 401");
    }
    assertThat(ping()).startsWith("HTTP/1.1 200");
  }

  private Socket begun(byte[] allButOne) throws IOException {
    Socket socket = connect();
    byte[] head = Head.of("msg_" + IDS.incrementAndGet(), now(0), ANY_SIGNATURE).length(LARGEST);
    socket.getOutputStream().write(head);
    socket.getOutputStream().write(allButOne);
    return socket;
  }

  private static String ended(Socket begun) throws IOException {
    try (begun) {
      begun.getOutputStream().write(0);
      return new String(begun.getInputStream().readAllBytes(), UTF_8);
    }
  }

  @Test
  void aCallerThatDripsLosesConnectionAndPlace() throws Exception {
    try (Socket stranger = connect();
        Socket forger = connect()) {
      stranger.getOutputStream().write(Head.of(null, null, null).length(LARGEST));
      forger
          .getOutputStream()
          .write(Head.of("msg_" + IDS.incrementAndGet(), now(0), ANY_SIGNATURE).length(LARGEST));
      stranger.setSoTimeout(100);
      forger.setSoTimeout(100);
      long begin = System.nanoTime();
      List<Socket> open = new ArrayList<>(List.of(stranger, forger));
      while (!open.isEmpty()) {
        open.removeIf(CallbackBodiesContract::drip);
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(20));
      }
    }
  }

  /** Sends a byte, and looks for a while whether the connection has ended. */
  private static boolean drip(Socket socket) {
    try {
      socket.getOutputStream().write(0);
      return socket.getInputStream().read(new byte[8192]) < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  /** What is answered to a head alone; the connection ends later. */
  private String before(Head head) throws IOException {
    try (Socket socket = connect()) {
      socket.getOutputStream().write(head.length(64 << 20));
      InputStream in = socket.getInputStream();
      StringBuilder answer = new StringBuilder();
      byte[] some = new byte[8192];
      for (int length = in.read(some); length >= 0; length = in.read(some)) {
        answer.append(new String(some, 0, length, UTF_8));
        if (hasText(answer)) {
          break;
        }
      }
      return answer.toString();
    }
  }

  private static boolean hasText(CharSequence answer) {
    String[] parts = answer.toString().split("\r\n\r\n", 2);
    // A sentence, and not only the size of a chunk.
    return parts.length == 2 && parts[1].contains(" ");
  }

  private String ping() throws IOException {
    byte[] body = "{\"application\":\"shop\",\"jobs\":[]}".getBytes(UTF_8);
    String id = "msg_" + IDS.incrementAndGet();
    String now = now(0);
    String signature =
        CallbackSignature.sign(List.of(CallbackSignature.Key.parse(SECRET)), id, now, body);
    try (Socket socket = connect()) {
      socket.getOutputStream().write(Head.of(id, now, signature).length(body.length));
      socket.getOutputStream().write(body);
      return new String(socket.getInputStream().readNBytes(12), UTF_8);
    }
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    // Less than Tomcat waits for a byte: what comes until then was not waiting for one.
    socket.setSoTimeout(8_000);
    return socket;
  }

  private static String now(int offset) {
    return Long.toString(Instant.now().getEpochSecond() + offset);
  }

  /** A request without its body. */
  private record Head(String text) {

    static Head of(@Nullable String id, @Nullable String timestamp, @Nullable String signature) {
      return new Head(
          "POST /punctual/callback HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nContent-Type: application/json\r\n"
              + (id == null ? "" : "webhook-id: " + id + "\r\n")
              + (timestamp == null ? "" : "webhook-timestamp: " + timestamp + "\r\n")
              + (signature == null ? "" : "webhook-signature: " + signature + "\r\n"));
    }

    Head to(String application) {
      return new Head(text + "Punctual-Application: " + application + "\r\n");
    }

    byte[] length(int length) {
      return (text + "Content-Length: " + length + "\r\n\r\n").getBytes(ISO_8859_1);
    }
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Shop {

    /** With less room and patience than applications have. */
    @Bean
    CallbackBodies bodies() {
      return new CallbackBodies(LARGEST, MOST, Duration.ofSeconds(2));
    }

    @Bean
    CallbackHandler handler(
        ClientIdentity identity, JobRunner runner, SchedulerCalls calls, CallbackBodies bodies) {
      CallbackGuard guard =
          new CallbackGuard(
              List.of(CallbackSignature.Key.parse(SECRET)), false, InstantSource.system());
      return new CallbackHandler(
          identity, runner, calls, new Jackson3Json(), guard, bodies, () -> null);
    }
  }
}
