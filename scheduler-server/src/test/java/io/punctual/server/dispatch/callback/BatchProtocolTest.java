package io.punctual.server.dispatch.callback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.server.dispatch.FakeDelivery;
import io.punctual.server.dispatch.callback.ProtocolFixture.Recorded;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.WorkerMetadata;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

class BatchProtocolTest {

  private static final CallbackSignature.Key KEY =
      CallbackSignature.Key.derived("q8ZJ1n0LrXv4TtYw7uKcB2sM9dPfGh6a", "shop");
  private static final JsonMapper JSON = new JsonMapper();
  private static final String HEAD = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";

  private final AtomicInteger taken = new AtomicInteger();

  private static String line(String id, String outcome) {
    return JSON.writeValueAsString(new CallbackResult(id, "i" + id, outcome, null, null, null))
        + "\n";
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private void call(ProtocolFixture fixture, RawWorker worker, Recorded... attempts) {
    fixture
        .batch()
        .call(worker.instance(WorkerMetadata.BATCH), List.of(attempts), taken::incrementAndGet);
    assertThat(fixture.memory.used()).isZero();
  }

  @Test
  void eachLineEndsItsJobAndAJobWithoutOneIsUnknown() throws IOException {
    Recorded[] jobs =
        IntStream.range(0, 6).mapToObj(i -> new Recorded("j" + i)).toArray(Recorded[]::new);
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker =
            new RawWorker(
                (request, out) -> {
                  out.write(
                      utf8(
                          HEAD
                              + line("j0", "done")
                              + line("j1", "retry")
                              + line("j2", "reject")
                              + line("j3", "refused")
                              + line("other", "done")
                              + "nonsense\n"
                              + JSON.writeValueAsString(CallbackResult.extended("j4", "ij4", 5_000))
                              + "\n"
                              + line("j5", "done").strip()));
                  return false;
                })) {
      call(fixture, worker, jobs);
    }
    assertThat(jobs[0].end()).isEqualTo("done");
    assertThat(jobs[1].end()).startsWith("failed");
    assertThat(jobs[2].end()).startsWith("rejected");
    assertThat(jobs[3].end()).startsWith("refused");
    assertThat(jobs[4].extensions).containsExactly(Duration.ofSeconds(5));
    assertThat(jobs[4].end()).isEqualTo("bad answer: the answer ended without a line for this job");
    assertThat(jobs[5].end()).as("its line was cut").startsWith("bad answer");
    assertThat(taken).hasValue(1);
  }

  @Test
  void whatCameBeforeTheConnectionBrokeCounts() throws IOException {
    Recorded first = new Recorded("j0");
    Recorded second = new Recorded("j1");
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker =
            new RawWorker(
                (request, out) -> {
                  String line = line("j0", "done");
                  out.write(
                      utf8(
                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                              + Integer.toHexString(line.length())
                              + "\r\n"
                              + line
                              + "\r\n"));
                  return false;
                })) {
      call(fixture, worker, first, second);
    }
    assertThat(first.end()).isEqualTo("done");
    assertThat(second.end()).isEqualTo("connection broke: the connection broke");
  }

  @ParameterizedTest
  @CsvSource({
    "404, INSTANCE",
    "405, INSTANCE",
    "410, INSTANCE",
    "415, INSTANCE",
    "421, INSTANCE",
    "401, INSTANCE",
    "403, INSTANCE",
    "503, INSTANCE"
  })
  void anInstanceThatTakesNothingWasSentNothing(int status, NotSentException.Scope scope)
      throws IOException {
    Recorded job = new Recorded("j0");
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker =
            RawWorker.saying("HTTP/1.1 " + status + " x\r\nContent-Length: 0\r\n\r\n")) {
      assertThatThrownBy(() -> call(fixture, worker, job))
          .isInstanceOfSatisfying(
              NotSentException.class,
              e -> {
                assertThat(e.scope()).isEqualTo(scope);
                assertThat(e.reason()).contains("HTTP " + status);
              });
    }
    assertThat(job.end()).isNull();
    assertThat(taken).hasValue(0);
  }

  @ParameterizedTest
  @CsvSource({"500, failed: HTTP 500", "307, failed: HTTP 307", "429, failed for PT7S: HTTP 429"})
  void anotherStatusIsAFailureOfEachJob(int status, String end) throws IOException {
    Recorded job = new Recorded("j0");
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker =
            RawWorker.saying(
                "HTTP/1.1 " + status + " x\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n")) {
      call(fixture, worker, job);
    }
    assertThat(job.end()).startsWith(end);
    assertThat(taken).hasValue(1);
  }

  @ParameterizedTest
  @CsvSource({"late, PT3S", "other-instance, PT30S", "other-application, PT30S", "'', PT30S"})
  void aCallThatWasHeldUpSaysLittleOfTheNextOne(String refusal, Duration avoid) throws IOException {
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker =
            RawWorker.saying(
                "HTTP/1.1 421 x\r\nPunctual-Refusal: "
                    + refusal
                    + "\r\nContent-Length: 0\r\n\r\n")) {
      assertThatThrownBy(() -> call(fixture, worker, new Recorded("j0")))
          .isInstanceOfSatisfying(
              NotSentException.class,
              e -> {
                assertThat(e.avoid()).isEqualTo(avoid);
                assertThat(e.reason().contains("lease had ended"))
                    .isEqualTo(refusal.equals("late"));
              });
    }
  }

  @Test
  void aCallMayBeRunUntilTheLeaseEnds() throws IOException {
    try (ProtocolFixture fixture = new ProtocolFixture(KEY);
        RawWorker worker = RawWorker.saying("HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n")) {
      Recorded shorter = new Recorded(new FakeDelivery("j1").leaseLeft(Duration.ofSeconds(4)));
      assertThatThrownBy(() -> call(fixture, worker, new Recorded("j0"), shorter))
          .isInstanceOf(NotSentException.class);
      assertThat(worker.end()).isEqualTo(ProtocolFixture.CLOCK.instant().plusSeconds(4));
      fixture.single().call(worker.instance(WorkerMetadata.SINGLE), List.of(shorter), () -> {});
      assertThat(worker.end()).isEqualTo(ProtocolFixture.CLOCK.instant().plusSeconds(4));
      var unused = fixture.ping().send(worker.instance(WorkerMetadata.BATCH));
      assertThat(worker.end()).isEqualTo(ProtocolFixture.CLOCK.instant().plusSeconds(5));
    }
  }

  @Test
  void nothingIsSentWhenALeaseIsOver() throws IOException {
    Recorded held = new Recorded("j0");
    Recorded over = new Recorded(new FakeDelivery("j1").loseLease());
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker = RawWorker.saying(HEAD)) {
      assertThatThrownBy(() -> call(fixture, worker, held, over))
          .isInstanceOfSatisfying(
              NotSentException.class,
              e -> assertThat(e.scope()).isEqualTo(NotSentException.Scope.LEASE));
      assertThat(worker.requests()).isEmpty();
    }
    assertThat(held.end()).isNull();
    assertThat(over.end()).isNull();
  }

  @Tag("full")
  @Test
  void aJobThatIsNotAnsweredInItsTimeIsLate() throws IOException {
    Recorded late = new Recorded(new FakeDelivery("j0", Duration.ofMillis(200)));
    CountDownLatch never = new CountDownLatch(1);
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker =
            new RawWorker(
                (request, out) -> {
                  out.write(utf8(HEAD));
                  out.flush();
                  never.await();
                  return false;
                })) {
      call(fixture, worker, late);
    }
    assertThat(late.end()).isEqualTo("time over: no answer within its time-to-run of PT0.2S");
    never.countDown();
  }

  @Test
  void linesWithoutAResultAreBoundedByTheJobsOfTheCall() throws IOException {
    Recorded job = new Recorded("j0");
    try (ProtocolFixture fixture = new ProtocolFixture();
        RawWorker worker =
            new RawWorker(
                (request, out) -> {
                  out.write(utf8(HEAD));
                  byte[] foreign = utf8("{\"x\":\"" + "y".repeat(1_000) + "\"}\n");
                  for (int i = 0; i < 1_000; i++) {
                    out.write(foreign);
                  }
                  out.write(utf8(line("j0", "done")));
                  return false;
                })) {
      call(fixture, worker, job);
    }
    assertThat(job.end()).contains("the answer is longer than 131072 bytes");
  }

  /** Signs as a worker does. */
  private static String signature(String request, int frame, String lines) {
    String id = header(request, CallbackSignature.ID);
    String signature =
        CallbackSignature.sign(
            List.of(KEY),
            CallbackSignature.answerId(id),
            header(request, CallbackSignature.TIMESTAMP),
            utf8(CallbackSignature.frame(frame, lines)));
    return CallbackSignature.line(signature) + "\n";
  }

  private static String header(String request, String name) {
    return request
        .lines()
        .filter(line -> line.toLowerCase(java.util.Locale.ROOT).startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aSignedAnswerCountsPartByPart() throws IOException {
    Recorded first = new Recorded("j0");
    Recorded second = new Recorded("j1");
    CountDownLatch read = new CountDownLatch(1);
    try (ProtocolFixture fixture = new ProtocolFixture(KEY);
        RawWorker worker =
            new RawWorker(
                (request, out) -> {
                  String one = line("j0", "done");
                  out.write(utf8(HEAD + one + signature(request, 0, one)));
                  out.flush();
                  read.await();
                  String two = line("j1", "reject");
                  out.write(utf8(two + signature(request, 1, two)));
                  return false;
                })) {
      Thread watcher =
          Thread.ofVirtual()
              .start(
                  () -> {
                    while (first.end() == null) {
                      Thread.onSpinWait();
                    }
                    read.countDown();
                  });
      call(fixture, worker, first, second);
      watcher.interrupt();
    }
    assertThat(first.end()).isEqualTo("done");
    assertThat(second.end()).startsWith("rejected");
  }

  /** Writes lines of 60 kB without a signature for as long as they are read. */
  private static void flood(OutputStream out) throws IOException {
    out.write(utf8(HEAD));
    byte[] line = utf8("{\"x\":\"" + "y".repeat(60_000) + "\"}\n");
    for (int i = 0; i < 300; i++) {
      out.write(line);
    }
  }

  @Test
  void whatIsNotSignedIsKeptWithinABound() throws IOException {
    Recorded job = new Recorded("j0");
    try (ProtocolFixture fixture = new ProtocolFixture(KEY);
        RawWorker worker =
            new RawWorker(
                (request, out) -> {
                  flood(out);
                  return false;
                })) {
      assertThatThrownBy(() -> call(fixture, worker, job))
          .isInstanceOf(UntrustedAnswerException.class);
      assertThat(fixture.memory.used()).isZero();
    }
    assertThat(job.end()).startsWith("bad answer: the answer is not signed");
  }

  @Test
  void allAnswersUnderWayShareABudget() throws IOException {
    Recorded job = new Recorded("j0");
    AnswerMemory memory = new AnswerMemory(100_000);
    AnswerMemory.Share others = memory.share();
    others.take(90_000);
    try (ProtocolFixture fixture = new ProtocolFixture(memory, KEY);
        RawWorker worker =
            new RawWorker(
                (request, out) -> {
                  flood(out);
                  return false;
                })) {
      fixture
          .batch()
          .call(worker.instance(WorkerMetadata.BATCH), List.of(job), taken::incrementAndGet);
    }
    assertThat(job.end()).contains("more than 100000 bytes of the scheduler's heap together");
    assertThat(memory.used()).isEqualTo(90_000);
    others.close();
    assertThat(memory.used()).isZero();
  }
}
