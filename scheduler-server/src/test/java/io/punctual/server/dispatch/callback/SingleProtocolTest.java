package io.punctual.server.dispatch.callback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.server.dispatch.FakeDelivery;
import io.punctual.server.dispatch.callback.ProtocolFixture.Recorded;
import io.punctual.wire.WorkerMetadata;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SingleProtocolTest {

  private final AtomicInteger taken = new AtomicInteger();

  private void call(ProtocolFixture fixture, RawWorker worker, Recorded attempt) {
    fixture
        .single()
        .call(worker.instance(WorkerMetadata.SINGLE), List.of(attempt), taken::incrementAndGet);
  }

  private static String answer(String status, String headers, String body) {
    return "HTTP/1.1 "
        + status
        + "\r\n"
        + headers
        + "Content-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  @ParameterizedTest
  @CsvSource({
    "200, done",
    "204, done",
    "202, deferred PT10M",
    "422, rejected",
    "429, failed for PT7S",
    "503, failed for PT7S",
    "500, failed: HTTP 500",
    "307, failed: HTTP 307",
    "404, failed: HTTP 404"
  })
  void theStatusIsTheAnswer(int status, String end) throws IOException {
    Recorded job = new Recorded("j0");
    String headers = "Retry-After: 7\r\n" + (status == 202 ? "Punctual-Defer: 10m\r\n" : "");
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker = RawWorker.saying(answer(status + " x", headers, ""))) {
      call(fixture, worker, job);
    }
    assertThat(job.end()).startsWith(end);
    assertThat(taken).hasValue(1);
  }

  @ParameterizedTest
  @CsvSource({
    "500, text/plain; charset=utf-8, 'No stock\nfor 4711', ': No stock for 4711'",
    "422, application/problem+json, '{\"detail\":\"no such order\"}', ': {\"detail\":\"no such order\"}'",
    "400, application/vnd.a.v2+json; charset=x, {}, ': {}'",
    "500, text/plain; charset=ISO-8859-1, caf\u00e9, ': caf\u00c3'",
    "503, Application/JSON, '', ''",
    "500, text/html, <h1>Oops</h1>, ''"
  })
  void whatAnAnswerSaysInItsBodyIsPartOfTheError(int status, String type, String body, String words)
      throws IOException {
    Recorded job = new Recorded("j0");
    String headers = "Content-Type: " + type + "\r\n";
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker = RawWorker.saying(answer(status + " x", headers, body))) {
      call(fixture, worker, job);
      assertThat(job.error())
          .isEqualTo(
              "HTTP "
                  + status
                  + " from "
                  + worker.instance(WorkerMetadata.SINGLE).callback()
                  + words);
    }
  }

  @Test
  void anErrorWhoseBodyStallsIsWhatCameWithinASecond() throws IOException {
    Recorded job = new Recorded("j0");
    CountDownLatch over = new CountDownLatch(1);
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker =
            new RawWorker(
                (request, out) -> {
                  out.write(
                      "HTTP/1.1 500 x\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\nNo st"
                          .getBytes(StandardCharsets.UTF_8));
                  out.flush();
                  over.await();
                  return false;
                })) {
      call(fixture, worker, job);
      over.countDown();
    }
    assertThat(job.error()).endsWith(": No st");
  }

  @Test
  void anErrorOfALongBodyIsCut() throws IOException {
    Recorded job = new Recorded("j0");
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker =
            RawWorker.saying(answer("500 x", "Content-Type: text/plain\r\n", "x".repeat(9_000)))) {
      call(fixture, worker, job);
      assertThat(job.error()).hasSizeBetween(1_000, 1_200);
    }
  }

  @Test
  void whereAnotherApplicationAnswersNothingWasSent() throws IOException {
    Recorded job = new Recorded("j0");
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker = RawWorker.saying(answer("421 x", "", ""))) {
      assertThatThrownBy(() -> call(fixture, worker, job))
          .isInstanceOfSatisfying(
              NotSentException.class,
              e -> assertThat(e.scope()).isEqualTo(NotSentException.Scope.INSTANCE));
    }
    assertThat(job.end()).isNull();
    assertThat(taken).hasValue(0);
  }

  @Test
  void anInstanceThatWantsNoMoreOfATypeSaysNothingOfOthers() throws IOException {
    Recorded job = new Recorded("j0");
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker = RawWorker.saying(answer("410 x", "", ""))) {
      assertThatThrownBy(() -> call(fixture, worker, job))
          .isInstanceOfSatisfying(
              NotSentException.class,
              e -> assertThat(e.scope()).isEqualTo(NotSentException.Scope.TASK_TYPE));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"2000 WHAT", "20 OK", "200OK"})
  void aStatusThatMakesNoSenseEndsNoJob(String status) throws IOException {
    Recorded job = new Recorded("j0");
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker = RawWorker.saying(answer(status, "", ""))) {
      call(fixture, worker, job);
    }
    assertThat(job.end()).isEqualTo("bad answer: the answer is not HTTP");
  }

  @Test
  void aBodyOfAFewKilobytesIsReadSoThatTheConnectionIsUsedAgain() throws IOException {
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker = RawWorker.saying(answer("200 OK", "", "x".repeat(5_000)))) {
      for (int i = 0; i < 20; i++) {
        Recorded job = new Recorded("j" + i);
        call(fixture, worker, job);
        assertThat(job.end()).isEqualTo("done");
      }
      assertThat(worker.connections()).isEqualTo(1);
    }
  }

  @Test
  void aBodyThatIsLargeOrDripsHoldsNothingUp() throws Exception {
    CountDownLatch gone = new CountDownLatch(1);
    Recorded large = new Recorded("large");
    Recorded drips = new Recorded("drips");
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker much =
            RawWorker.saying(
                "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n" + "x".repeat(100_000));
        RawWorker little =
            new RawWorker(
                (request, out) -> {
                  out.write(
                      "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
                          .getBytes(StandardCharsets.UTF_8));
                  try {
                    while (true) {
                      out.write('x');
                      out.flush();
                      new CountDownLatch(1).await(100, java.util.concurrent.TimeUnit.MILLISECONDS);
                    }
                  } finally {
                    gone.countDown();
                  }
                })) {
      call(fixture, much, large);
      call(fixture, little, drips);
      gone.await();
    }
    assertThat(large.end()).isEqualTo("done");
    assertThat(drips.end()).isEqualTo("done");
  }

  @Test
  void aConnectionThatBreaksLeavesTheOutcomeUnknown() throws IOException {
    Recorded job = new Recorded("j0");
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker = new RawWorker((request, out) -> false)) {
      call(fixture, worker, job);
    }
    assertThat(job.end()).startsWith("connection broke");
  }

  @Tag("full")
  @Test
  void aJobThatIsNotAnsweredInItsTimeIsLateAndItsConnectionEnds() throws IOException {
    Recorded job = new Recorded(new FakeDelivery("j0", Duration.ofMillis(200)));
    CountDownLatch never = new CountDownLatch(1);
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker =
            new RawWorker(
                (request, out) -> {
                  never.await();
                  return false;
                })) {
      call(fixture, worker, job);
    }
    assertThat(job.end()).startsWith("time over");
    never.countDown();
  }

  @Test
  void nothingIsSentWhenTheLeaseIsOver() throws IOException {
    Recorded over = new Recorded(new FakeDelivery("j0").loseLease());
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker = RawWorker.saying(answer("200 OK", "", ""))) {
      assertThatThrownBy(() -> call(fixture, worker, over)).isInstanceOf(NotSentException.class);
      assertThat(worker.requests()).isEmpty();
    }
    assertThat(over.end()).isNull();
  }
}
