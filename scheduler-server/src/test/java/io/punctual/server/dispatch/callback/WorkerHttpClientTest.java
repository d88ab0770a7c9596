package io.punctual.server.dispatch.callback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.redis.Ports;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.StringEntity;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkerHttpClientTest {

  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final Duration AVOID = Duration.ofSeconds(3);

  private final WorkerHttpClient client = client(new CallbackTargets(List.of(), true));

  private static WorkerHttpClient client(CallbackTargets targets) {
    return new WorkerHttpClient(Duration.ofSeconds(1), targets, null);
  }

  @AfterEach
  void close() {
    client.close();
  }

  private Exchange exchange(URI uri) {
    HttpPost post = new HttpPost(uri);
    post.setEntity(new StringEntity("{}", ContentType.create("application/json")));
    return client.exchange(post, () -> true);
  }

  /** Status and body. */
  private String call(URI uri) throws IOException {
    try (Answer answer = exchange(uri).send(AVOID)) {
      assertThat(answer).isNotNull();
      return answer.status()
          + " "
          + new String(answer.body().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void callsOneAfterTheOtherShareAConnection() throws IOException {
    try (RawWorker worker = RawWorker.saying(OK)) {
      for (int i = 0; i < 20; i++) {
        assertThat(call(worker.uri())).isEqualTo("200 ok");
      }
      assertThat(worker.connections()).isEqualTo(1);
    }
  }

  @Test
  void anAddressThatMustNotBeCalledGetsNoTlsHandshake() throws IOException {
    try (RawWorker worker = RawWorker.saying(OK);
        WorkerHttpClient strict = client(new CallbackTargets(List.of("10.0.0.0/8"), false))) {
      assertThat(strict.speaksTls(worker.uri())).isFalse();
      assertThat(worker.connections()).isEqualTo(0);

      assertThat(client.speaksTls(worker.uri())).isFalse();
      assertThat(worker.connections()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 2000 WHAT",
        "HTTP/1.1 20 OK",
        "HTTP/1.1 020 OK",
        "HTTP/1.1 200OK",
        "HTTP/1.1 2x0 OK",
        "HTTP/1.1 +20 OK",
        "HTTP/1.1  200 OK",
        "HTTP/1.1\t200 OK",
        "HTTP/2.0 200 OK",
        "HTTP/11 200 OK",
        "HTTP/1.11 200 OK",
        "ICY 200 OK",
        "220 mail.example ESMTP secret-banner-4711",
        "200 OK"
      })
  void aStatusLineThatIsNoneIsNoAnswer(String line) throws IOException {
    try (RawWorker worker = RawWorker.saying(line + "\r\nContent-Length: 0\r\n\r\n")) {
      Exchange exchange = exchange(worker.uri());
      assertThatThrownBy(() -> exchange.send(AVOID))
          .isInstanceOf(IOException.class)
          .satisfies(
              e -> {
                assertThat(CallFailure.of(e, true)).isEqualTo(CallFailure.NOT_HTTP);
                assertThat(CallFailure.of(e, true).text()).doesNotContain("secret-banner");
                assertThat(exchange.wasSent(e)).isTrue();
              });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.0 200 Fine", "HTTP/1.1 599 x"})
  void aStatusLineWithoutAReasonIsOne(String line) throws IOException {
    try (RawWorker worker = RawWorker.saying(line + "\r\nContent-Length: 0\r\n\r\n")) {
      assertThat(call(worker.uri())).isIn("200 ", "599 ");
    }
  }

  @Test
  void aConnectionThatTheWorkerClosedMeanwhileIsNotUsedAgain() throws IOException {
    try (RawWorker worker =
        new RawWorker(
            (request, out) -> {
              out.write(OK.getBytes(StandardCharsets.UTF_8));
              out.flush();
              return false;
            })) {
      for (int i = 0; i < 20; i++) {
        assertThat(call(worker.uri())).isEqualTo("200 ok");
        Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> worker.open() == 0);
      }
      assertThat(worker.requests()).hasSize(20);
    }
  }

  @Test
  void whatDiedBetweenTwoCallsWasNotSentTheSecond() throws IOException {
    RawWorker worker = RawWorker.saying(OK);
    assertThat(call(worker.uri())).isEqualTo("200 ok");
    worker.die();

    assertThatThrownBy(() -> call(worker.uri()))
        .isInstanceOf(NotSentException.class)
        .hasMessage("no connection: refused");
  }

  /** What stands behind an answer is nobody's: it must not be taken for the next one. */
  @Test
  void aSecondAnswerInOneSegmentBelongsToNoCall() throws IOException {
    String forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged";
    try (RawWorker worker =
        new RawWorker(
            (request, out) -> {
              out.write((OK + forged).getBytes(StandardCharsets.UTF_8));
              return true;
            })) {
      for (int i = 0; i < 10; i++) {
        assertThat(call(worker.uri())).isEqualTo("200 ok");
      }
      assertThat(worker.connections()).isEqualTo(10);
    }
  }

  @Test
  void aCallThatMayNotBeSentLeavesNoByte() throws IOException {
    try (RawWorker worker = RawWorker.saying(OK)) {
      HttpPost post = new HttpPost(worker.uri());
      post.setEntity(new StringEntity("{}"));
      Exchange exchange = client.exchange(post, () -> false);

      assertThatThrownBy(() -> exchange.send(AVOID))
          .isInstanceOfSatisfying(
              NotSentException.class,
              e -> assertThat(e.scope()).isEqualTo(NotSentException.Scope.LEASE));
      assertThat(call(worker.uri())).isEqualTo("200 ok");
      assertThat(worker.requests()).hasSize(1);
    }
  }

  @Test
  void nothingIsSentToAnAddressThatIsNotAllowed() throws IOException {
    try (RawWorker worker = RawWorker.saying(OK);
        WorkerHttpClient strict = client(new CallbackTargets(List.of("10.0.0.0/8"), false))) {
      Exchange exchange = strict.exchange(new HttpPost(worker.uri()), () -> true);
      assertThatThrownBy(() -> exchange.send(AVOID))
          .isInstanceOf(NotSentException.class)
          .hasMessageContaining("127.0.0.1", "punctual.dispatch.allowed-networks");
      assertThat(worker.connections()).isEqualTo(0);
    }
  }

  @Test
  void aPortThatNoProgramListensAtIsNotReached() throws IOException {
    int closed = Ports.free();
    assertThatThrownBy(() -> call(URI.create("http://127.0.0.1:" + closed + "/x")))
        .isInstanceOf(NotSentException.class)
        .hasMessage("no connection: refused");
    assertThatThrownBy(() -> call(URI.create("http://no-such-host.invalid:80/x")))
        .isInstanceOf(NotSentException.class)
        .hasMessage("no connection: the host has no address");
  }

  @Test
  void redirectsAreNotFollowedAndNothingIsRepeated() throws IOException {
    try (RawWorker target = RawWorker.saying(OK);
        RawWorker worker =
            RawWorker.saying(
                "HTTP/1.1 307 Elsewhere\r\nLocation: "
                    + target.uri()
                    + "\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n")) {
      assertThat(call(worker.uri())).isEqualTo("307 ");
      assertThat(call(worker.uri())).isEqualTo("307 ");
      assertThat(target.requests()).isEmpty();
      assertThat(worker.requests())
          .hasSize(2)
          .allSatisfy(request -> assertThat(request).doesNotContainIgnoringCase("cookie"));
    }
    for (int status : new int[] {401, 407, 408, 429, 503}) {
      try (RawWorker worker =
          RawWorker.saying(
              "HTTP/1.1 "
                  + status
                  + " x\r\nRetry-After: 0\r\nWWW-Authenticate: Basic\r\n"
                  + "Proxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")) {
        assertThat(call(worker.uri())).isEqualTo(status + " ");
        assertThat(worker.requests()).hasSize(1);
      }
    }
  }

  @Test
  void aConnectionThatBreaksBeforeTheAnswerWasSent() throws IOException {
    try (RawWorker worker = new RawWorker((request, out) -> false)) {
      Exchange exchange = exchange(worker.uri());
      assertThatThrownBy(() -> exchange.send(AVOID))
          .isInstanceOf(IOException.class)
          .satisfies(
              e -> {
                assertThat(exchange.wasSent(e)).isTrue();
                assertThat(CallFailure.of(e, true)).isEqualTo(CallFailure.BROKE);
              });
      assertThat(worker.requests()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nhalf"
      })
  void aBodyThatIsCutIsABrokenConnection(String half) throws IOException {
    try (RawWorker worker =
        new RawWorker(
            (request, out) -> {
              out.write(half.getBytes(StandardCharsets.UTF_8));
              return false;
            })) {
      assertThatThrownBy(() -> call(worker.uri()))
          .isInstanceOf(IOException.class)
          .satisfies(e -> assertThat(CallFailure.of(e, true)).isEqualTo(CallFailure.BROKE));
    }
  }

  @Test
  void interimAnswersAndHeadsAreBounded() throws IOException {
    String interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
    try (RawWorker few = RawWorker.saying(interim.repeat(8) + OK);
        RawWorker many = RawWorker.saying(interim.repeat(9) + OK);
        RawWorker wide =
            RawWorker.saying("HTTP/1.1 200 OK\r\nX: " + "x".repeat(20_000) + "\r\n\r\n");
        RawWorker high =
            RawWorker.saying("HTTP/1.1 200 OK\r\n" + "X: y\r\n".repeat(101) + "\r\n")) {
      assertThat(call(few.uri())).isEqualTo("200 ok");
      for (RawWorker bad : List.of(many, wide, high)) {
        assertThatThrownBy(() -> call(bad.uri()))
            .isInstanceOf(IOException.class)
            .satisfies(e -> assertThat(CallFailure.of(e, true)).isEqualTo(CallFailure.NOT_HTTP));
      }
    }
  }

  @Test
  void aCallThatIsGivenUpEndsAtOnceWithItsConnection() throws Exception {
    CountDownLatch reached = new CountDownLatch(1);
    AtomicReference<Boolean> gone = new AtomicReference<>(false);
    try (RawWorker worker =
        new RawWorker(
            (request, out) -> {
              reached.countDown();
              try {
                while (true) {
                  out.write(new byte[0]);
                  out.flush();
                  out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.UTF_8));
                  new CountDownLatch(1).await(100, java.util.concurrent.TimeUnit.MILLISECONDS);
                }
              } finally {
                gone.set(true);
              }
            })) {
      HttpPost post = new HttpPost(worker.uri());
      post.setEntity(new StringEntity("{}"));
      Exchange exchange = client.exchange(post, () -> true);
      CompletableFuture<Answer> answer =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return exchange.send(AVOID);
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              },
              task -> Thread.ofVirtual().start(task));
      reached.await();
      exchange.abort();

      assertThat(answer.get(5, java.util.concurrent.TimeUnit.SECONDS)).isNull();
      Awaitility.await().until(gone::get);
    }
  }

  @Test
  void anAnswerThatIsClosedUnreadEndsItsConnectionWithoutReadingOn() throws IOException {
    try (RawWorker worker =
        new RawWorker(
            (request, out) -> {
              out.write(
                  "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbegun"
                      .getBytes(StandardCharsets.UTF_8));
              return true;
            })) {
      for (int i = 0; i < 2; i++) {
        try (Answer answer = exchange(worker.uri()).send(AVOID)) {
          assertThat(answer).isNotNull();
          assertThat(answer.body().read()).isEqualTo('b');
        }
      }
      assertThat(worker.connections()).isEqualTo(2);
    }
  }
}
