package io.punctual.client.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.punctual.client.ClientIdentity;
import io.punctual.client.json.Jackson3Json;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.client.submit.SchedulerSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What a developer reads while no scheduler answers the application. */
@ExtendWith(OutputCaptureExtension.class)
class SchedulerWatchTest {

  // A look at schedulers that refuse connections takes three quarters of this.
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final Duration PATIENT = Duration.ofSeconds(30);

  private final Queue<String> requests = new ConcurrentLinkedQueue<>();
  private final List<URI> known = new CopyOnWriteArrayList<>();
  private volatile int status = 200;
  private HttpServer scheduler;
  private SchedulerCalls calls;
  private SchedulerWatch watch;

  @BeforeEach
  void start() throws IOException {
    scheduler = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    scheduler.createContext(
        "/",
        exchange -> {
          requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
          byte[] body = "{\"detail\":\"no such token\"}".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    scheduler.start();
    watch(new Registry(), SHORT);
  }

  private final class Registry implements SchedulerSource {

    @Override
    public List<URI> schedulers() {
      return known;
    }

    @Override
    public String whyNone() {
      return "The registry shows none.";
    }

    @Override
    public String remedy(boolean known) {
      return known ? "Start it." : "Register one.";
    }
  }

  private void watch(SchedulerSource source, Duration patience) {
    if (watch != null) {
      watch.close();
      calls.close();
    }
    calls =
        new SchedulerCalls(
            new SchedulerLocator(source),
            new Jackson3Json(),
            Duration.ofSeconds(10),
            null,
            builder -> {});
    watch =
        new SchedulerWatch(
            new ClientIdentity("shop"),
            calls,
            Duration.ofMillis(1),
            patience,
            Duration.ofMillis(1));
  }

  @AfterEach
  void stop() {
    watch.close();
    calls.close();
    scheduler.stop(0);
  }

  private URI address() {
    return URI.create("http://127.0.0.1:" + scheduler.getAddress().getPort());
  }

  private static void eventually(CapturedOutput output, String text, int times) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> output.getAll().lines().filter(line -> line.contains(text)).count() >= times);
  }

  private static void noThread() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals("punctual-watch")));
  }

  @Test
  void nothingIsSaidWhereASchedulerAnswers(CapturedOutput output) {
    // The first call of a process may take longer than a short patience.
    watch(new Registry(), PATIENT);
    known.add(address());

    watch.start();

    Awaitility.await().atMost(PATIENT).until(() -> !requests.isEmpty());
    noThread();
    assertThat(requests).containsExactly("GET /api/v1/workers?application=shop&limit=1");
    assertThat(output).doesNotContain("Punctual:");
  }

  @Test
  void thatNoneIsKnownIsSaidAgainAndAgainUntilOneIs(CapturedOutput output) {
    watch.start();

    eventually(
        output,
        "NO SCHEDULER ANSWERS shop, so its jobs are neither sent nor run: no scheduler is known: The"
            + " registry shows none. Register one.",
        2);
    known.add(address());
    eventually(output, "a scheduler answers shop now", 1);
    noThread();
  }

  @Test
  void anErrorDoesNotEndTheWatch(CapturedOutput output) {
    AtomicInteger asked = new AtomicInteger();
    watch(
        () -> {
          if (asked.incrementAndGet() == 1) {
            throw new OutOfMemoryError("a test's");
          }
          return known;
        },
        SHORT);

    watch.start();

    eventually(output, "NO SCHEDULER ANSWERS shop", 1);
  }

  @Test
  void aSchedulerThatAcceptsNoConnectionsIsNamedWithItsRemedy(CapturedOutput output) {
    known.add(address());
    scheduler.stop(0);

    watch.start();

    eventually(
        output,
        "NO SCHEDULER ANSWERS shop, so its jobs are neither sent nor run: no scheduler accepts"
            + " connections: "
            + address()
            + " (connection refused). Start it.",
        1);
  }

  @Test
  void aRefusedApplicationIsToldWhichTokenToSet(CapturedOutput output) {
    known.add(address());
    status = 401;

    watch.start();

    eventually(output, "REFUSE shop", 2);
    assertThat(output)
        .contains("HTTP 401: no such token. Set punctual.token")
        .contains("\"credentials shop\"");
    status = 200;
    eventually(output, "a scheduler answers shop now", 1);
  }

  @Test
  void somethingElseAtTheAddressIsNotTakenForAScheduler(CapturedOutput output) {
    known.add(address());
    status = 404;

    watch.start();

    eventually(output, "something else does at [" + address() + "]: HTTP 404", 1);
  }

  @Test
  void aRegistryThatCannotBeReadIsSaid(CapturedOutput output) {
    watch(
        () -> {
          throw new IllegalStateException("the agent is away");
        },
        SHORT);

    watch.start();

    eventually(output, "cannot be read: java.lang.IllegalStateException: the agent is away.", 2);
  }

  @Test
  void theApplicationEndsInTheMidstOfIt(CapturedOutput output) {
    watch.start();
    eventually(output, "NO SCHEDULER ANSWERS", 1);

    watch.close();

    noThread();
    assertThat(output).doesNotContain("a scheduler answers shop now");
  }
}
