package io.punctual.server.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.PingAnswer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** A worker that answers pings, and keeps whatever jobs it gets unless it is told how to answer. */
final class HoldingWorker implements AutoCloseable {

  private static final JsonMapper JSON = new JsonMapper();

  private final String application;
  private final String master;
  private final @Nullable String outcome;
  private final HttpServer server;

  HoldingWorker(String application, String master) {
    this(application, master, null);
  }

  /**
   * @param outcome what becomes of each job; null to keep them
   */
  HoldingWorker(String application, String master, @Nullable String outcome) {
    this.application = application;
    this.master = master;
    this.outcome = outcome;
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext("/", this::answer);
    server.setExecutor(Executors.newSingleThreadExecutor(Thread.ofVirtual().factory()));
    server.start();
  }

  String uri() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void answer(HttpExchange call) throws IOException {
    CallbackRequest request =
        JSON.readValue(call.getRequestBody().readAllBytes(), CallbackRequest.class);
    String end = outcome;
    if (!request.jobs().isEmpty() && end == null) {
      // Somebody works, and says nothing yet.
      call.sendResponseHeaders(200, 0);
      call.getResponseBody().flush();
      return;
    }
    String line =
        request.jobs().isEmpty()
            ? JSON.writeValueAsString(
                    new PingAnswer(
                        application, Instant.now().toEpochMilli(), "1.2.3", null, null, null))
                + "\n"
            : request.jobs().stream()
                .map(job -> result(job, String.valueOf(end)))
                .collect(Collectors.joining());
    String signature =
        CallbackSignature.sign(
            List.of(CallbackSignature.Key.derived(master, application)),
            CallbackSignature.answerId(call.getRequestHeaders().getFirst(CallbackSignature.ID)),
            call.getRequestHeaders().getFirst(CallbackSignature.TIMESTAMP),
            CallbackSignature.frame(0, line).getBytes(UTF_8));
    byte[] answer = (line + CallbackSignature.line(signature) + "\n").getBytes(UTF_8);
    call.sendResponseHeaders(200, answer.length);
    call.getResponseBody().write(answer);
    call.close();
  }

  private static String result(CallbackRequest.Job job, String outcome) {
    String error = outcome.equals(CallbackResult.DONE) ? null : "no answer of the bank";
    return JSON.writeValueAsString(
            new CallbackResult(job.taskId(), job.incarnation(), outcome, null, error, null))
        + "\n";
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
