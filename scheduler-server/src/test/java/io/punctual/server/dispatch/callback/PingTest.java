package io.punctual.server.dispatch.callback;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.callback.PingResult.Answered;
import io.punctual.server.dispatch.callback.PingResult.Signature;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.WorkerMetadata;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ping of the single protocol: an answer proves the key and the address. */
class PingTest {

  private static final CallbackSignature.Key KEY =
      CallbackSignature.Key.derived("q8ZJ1n0LrXv4TtYw7uKcB2sM", "shop");
  private static final CallbackSignature.Key OTHER =
      CallbackSignature.Key.derived("q8ZJ1n0LrXv4TtYw7uKcB2sM", "bank");

  private static String header(String request, String name) {
    return request
        .lines()
        .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(name.toLowerCase(Locale.ROOT)))
        .map(line -> line.substring(name.length() + 2))
        .findFirst()
        .orElse("");
  }

  private static String sign(CallbackSignature.Key key, String content) {
    return CallbackSignature.sign(
        List.of(key),
        CallbackSignature.PING_ID,
        CallbackSignature.PING_TIMESTAMP,
        content.getBytes(StandardCharsets.UTF_8));
  }

  /** A worker that answers OPTIONS with what it makes of the random text. */
  private static RawWorker worker(UnaryOperator<String> signature) throws IOException {
    return new RawWorker(
        (request, out) -> {
          String signed = signature.apply(header(request, CallbackSignature.PING));
          String answer =
              "HTTP/1.1 204 x\r\n"
                  + (signed.isEmpty() ? "" : CallbackSignature.ANSWER + ": " + signed + "\r\n")
                  + "\r\n";
          out.write(answer.getBytes(StandardCharsets.UTF_8));
          return true;
        });
  }

  private static Signature ping(RawWorker worker, CallbackSignature.Key... keys) {
    try (ProtocolFixture fixture = new ProtocolFixture(keys)) {
      PingResult result = fixture.ping().send(worker.instance(WorkerMetadata.SINGLE));
      assertThat(result).isInstanceOf(Answered.class);
      return ((Answered) result).signature();
    }
  }

  private static Signature answered(CallbackSignature.Key key, String address) throws IOException {
    try (RawWorker worker =
        worker(random -> sign(key, CallbackSignature.pingContent(random, address)))) {
      return ping(worker, KEY);
    }
  }

  @Test
  void aWorkerThatSignsItsAddressHasTheKey() throws IOException {
    RawWorker[] self = new RawWorker[1];
    try (RawWorker worker =
        worker(
            random -> sign(KEY, CallbackSignature.pingContent(random, self[0].uri().toString())))) {
      self[0] = worker;
      assertThat(ping(worker, KEY)).isEqualTo(Signature.RIGHT);
      assertThat(ping(worker, OTHER)).isEqualTo(Signature.WRONG);
      assertThat(worker.requests()).allMatch(request -> request.startsWith("OPTIONS /callback "));
      assertThat(worker.requests())
          .extracting(request -> header(request, CallbackSignature.PING))
          .doesNotHaveDuplicates()
          .allMatch(random -> random.matches("msg_[0-9a-f]{32}_[0-9]{13}"));
    }
  }

  /** An impostor passes on the ping to a worker that has the key. */
  @Test
  void anAnswerFromAnotherAddressProvesNothing() throws IOException {
    assertThat(answered(KEY, "http://10.0.0.7:9000/callback")).isEqualTo(Signature.WRONG);
    assertThat(answered(KEY, "")).isEqualTo(Signature.WRONG);
  }

  @Test
  void anOldAnswerProvesNothing() throws IOException {
    RawWorker[] self = new RawWorker[1];
    try (RawWorker worker =
        worker(
            random ->
                sign(
                    KEY,
                    CallbackSignature.pingContent("0".repeat(32), self[0].uri().toString())))) {
      self[0] = worker;
      assertThat(ping(worker, KEY)).isEqualTo(Signature.WRONG);
    }
  }

  @Test
  void anAnswerWithoutSignatureProvesNothing() throws IOException {
    try (RawWorker worker = worker(random -> "")) {
      assertThat(ping(worker, KEY)).isEqualTo(Signature.MISSING);
    }
  }

  @Test
  void whereNothingIsSignedThePingAsksForNothing() throws IOException {
    try (RawWorker worker = worker(random -> "")) {
      assertThat(ping(worker)).isEqualTo(Signature.NOT_WANTED);
      assertThat(worker.requests())
          .allMatch(request -> header(request, CallbackSignature.PING).isEmpty());
    }
  }

  /**
   * Anyone may ask a worker for that signature, with any text. Whatever they ask with, it is right
   * for no other id, timestamp and content than those of that ping.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "msg_1.1763740000.{};   msg_1;        1763740000; {}",
        "1763740000.{};         ping.1;       1763740000; {}",
        "{};                    ping;         1;          {}",
        "x.1763740000.{};       ping.1.x;     1763740000; {}",
      })
  void theAnswerToAPingIsNoSignatureOfAJob(String asked, String id, String timestamp, String job) {
    String address = "http://10.0.0.7:9000/callback";
    String signature = sign(KEY, CallbackSignature.pingContent(asked, address));

    for (String body : List.of(job, job + " " + address)) {
      assertThat(
              CallbackSignature.verify(
                  List.of(KEY), signature, id, timestamp, body.getBytes(StandardCharsets.UTF_8)))
          .as(body)
          .isFalse();
    }
    assertThat(
            CallbackSignature.verify(
                List.of(KEY),
                signature,
                CallbackSignature.PING_ID,
                CallbackSignature.PING_TIMESTAMP,
                CallbackSignature.pingContent(asked, address).getBytes(StandardCharsets.UTF_8)))
        .as("the one message that it signs")
        .isTrue();
    assertThat(Long.parseLong(CallbackSignature.PING_TIMESTAMP))
        .isLessThan(System.currentTimeMillis() / 1000 - CallbackSignature.TOLERANCE_SECONDS);
  }
}
