package io.punctual.client.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.json.Jackson3Json;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerLocator;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What a developer reads of what a scheduler saw. */
@ExtendWith(OutputCaptureExtension.class)
class ReachReportTest {

  private static final String BAD =
      """
      {"probe":{"status":"problem","code":"connection-refused","message":"No program listens",
      "remedy":"Set eureka.instance.hostname","url":"http://a:1/cb"}}""";
  private static final String GOOD =
      """
      {"probe":{"status":"ok","code":"reached","message":"A call got through",
      "remedy":null,"url":"http://a:1/cb"}}""";
  private static final String UNKNOWN =
      "{\"detail\":\"the registry shows this scheduler no instance shop:1 of shop\"}";

  private record Scripted(int status, String body) {}

  /** What is answered, in this order; the last one from then on. */
  private final Queue<Scripted> answers = new ConcurrentLinkedQueue<>();

  private final Queue<String> requests = new ConcurrentLinkedQueue<>();
  private HttpServer scheduler;
  private SchedulerCalls calls;
  private ReachReport report;

  @BeforeEach
  void start() throws IOException {
    scheduler = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    scheduler.createContext(
        "/",
        exchange -> {
          Scripted answer =
              Objects.requireNonNull(answers.size() > 1 ? answers.poll() : answers.peek());
          requests.add(
              exchange.getRequestMethod()
                  + " "
                  + exchange.getRequestURI()
                  + " "
                  + exchange.getRequestHeaders().getFirst("Authorization")
                  + " "
                  + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(answer.status(), body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    scheduler.start();
    report(
        List.of(URI.create("http://127.0.0.1:" + scheduler.getAddress().getPort())),
        () -> "shop:1");
  }

  private void report(List<URI> schedulers) {
    report(schedulers, () -> "shop:1");
  }

  private void report(List<URI> schedulers, Supplier<String> instance) {
    report(schedulers, instance, null);
  }

  private void report(List<URI> schedulers, Supplier<String> instance, String error) {
    calls =
        new SchedulerCalls(
            new SchedulerLocator(() -> schedulers),
            new Jackson3Json(),
            Duration.ofSeconds(1),
            "pct_token",
            builder -> {});
    report =
        new ReachReport(
            new ClientIdentity("shop"),
            new Registered(instance, error),
            calls,
            Duration.ofMillis(1),
            Duration.ofMillis(1));
  }

  private record Registered(Supplier<String> instance, String error)
      implements InstanceRegistration {

    @Override
    public void deregister() {}

    @Override
    public AdvertisedCallback advertised() {
      return new AdvertisedCallback(instance.get(), URI.create("http://a:1/cb"));
    }

    @Override
    public String error() {
      return error;
    }

    @Override
    public String remedy() {
      return "Look into the registry.";
    }
  }

  @AfterEach
  void stop() {
    report.close();
    calls.close();
    scheduler.stop(0);
  }

  private void answer(int status, String body) {
    answers.add(new Scripted(status, body));
  }

  private static void eventually(CapturedOutput output, String text) {
    Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> output.getAll().contains(text));
  }

  private static long count(CapturedOutput output, String text) {
    return output.getAll().lines().filter(line -> line.contains(text)).count();
  }

  @Test
  void whatIsInTheWayIsSaidOnceWithItsCureAndThenThatItIsGone(CapturedOutput output) {
    answer(404, UNKNOWN);
    answer(200, "{\"probe\":null}");
    answer(200, BAD);
    answer(200, BAD);
    answer(200, BAD.replace("connection-refused", "wrong-path"));
    answer(200, GOOD);

    report.start();

    eventually(output, "a scheduler reaches this instance at http://a:1/cb. A call got through");
    assertThat(count(output, "CANNOT REACH")).isEqualTo(2);
    assertThat(output)
        .contains(
            "CANNOT REACH this instance at http://a:1/cb, so it gets no jobs (connection-refused):"
                + " No program listens. Set eureka.instance.hostname")
        .contains("(wrong-path)")
        .contains("WARN");
    assertThat(requests)
        .hasSize(6)
        .allSatisfy(
            request ->
                assertThat(request)
                    .startsWith("POST /api/v1/workers:probe Bearer pct_token ")
                    .contains("\"application\":\"shop\"", "\"instance\":\"shop:1\""));
    // Once it is well, nothing stays: neither calls nor a thread.
    noThread();
    assertThat(requests).hasSize(6);
  }

  @Test
  void anErrorDoesNotEndTheReport(CapturedOutput output) {
    answer(200, GOOD);
    report.close();
    calls.close();
    AtomicInteger asked = new AtomicInteger();
    report(
        List.of(URI.create("http://127.0.0.1:" + scheduler.getAddress().getPort())),
        () -> {
          if (asked.incrementAndGet() == 1) {
            throw new OutOfMemoryError("a test's");
          }
          return "shop:1";
        });

    report.start();

    eventually(output, "a scheduler reaches this instance at http://a:1/cb");
  }

  @Test
  void whoIsNotSeenInTheRegistryIsTold(CapturedOutput output) {
    answer(404, UNKNOWN);

    report.start();

    eventually(output, "schedulers do not know this instance (shop:1), and so give it no jobs");
    noThread();
    assertThat(count(output, "do not know this instance")).isEqualTo(1);
    assertThat(output).contains("Look into the registry.");
  }

  @Test
  void aFailedRegistrationIsNamedIfSchedulersDoNotKnowTheInstance(CapturedOutput output) {
    answer(404, UNKNOWN);
    report.close();
    calls.close();
    report(
        List.of(URI.create("http://127.0.0.1:" + scheduler.getAddress().getPort())),
        () -> "shop:1",
        "a scheduler refused it");

    report.start();

    eventually(
        output,
        "and so give it no jobs. Registration failed: a scheduler refused it. Look into the"
            + " registry.");
    noThread();
  }

  @ParameterizedTest
  @CsvSource({"401", "403", "405", "400"})
  void aSchedulerThatDoesNotSayIsAskedNoMore(int status, CapturedOutput output) {
    answer(status, "{}");

    report.start();

    noThread();
    assertThat(requests).hasSize(1);
    assertThat(output).doesNotContain("Punctual:");
  }

  @Test
  void whereThereIsNoSchedulerNothingIsSaid(CapturedOutput output) {
    report.close();
    calls.close();
    report(List.of());

    report.start();

    noThread();
    assertThat(output).doesNotContain("Punctual:");
  }

  @Test
  void aWarningIsOneToo(CapturedOutput output) {
    answer(200, BAD.replace("problem", "warning").replace("connection-refused", "clock-off"));

    report.start();

    eventually(output, "reaches this instance at http://a:1/cb, but (clock-off)");
  }

  @Test
  void theApplicationEndsInTheMidstOfIt() {
    answer(200, BAD);
    report.start();
    Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> requests.size() > 3);

    report.close();

    noThread();
  }

  private static void noThread() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals("punctual-doctor")));
  }
}
