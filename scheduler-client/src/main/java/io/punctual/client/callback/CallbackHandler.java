package io.punctual.client.callback;

import io.punctual.client.ClientIdentity;
import io.punctual.client.json.Json;
import io.punctual.client.json.JsonException;
import io.punctual.client.lease.JobLease;
import io.punctual.client.lease.RemoteLease;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.wire.CallbackRefusal;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.Limits;
import io.punctual.wire.PingAnswer;
import io.punctual.wire.PunctualVersion;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Takes jobs from schedulers, behind whatever web server the application has. */
public final class CallbackHandler {

  private static final Map<String, String> RESULTS = Map.of("Content-Type", "application/x-ndjson");

  /** Schedulers send 1 MB of jobs at once, which as JSON may be six times as much. */
  private static final long MAX_BODY = 8L << 20;

  private static final String RETRY_AFTER_SECONDS = "2";

  private final ClientIdentity identity;
  private final JobRunner runner;
  private final SchedulerCalls calls;
  private final CallbackGuard guard;
  private final CallbackBodies bodies;
  private final Supplier<@Nullable AdvertisedCallback> advertised;
  private final Json json;

  /**
   * @param calls by which jobs that run ask for something
   * @param json reads the jobs and writes their results
   * @param advertised what the registry says of this instance; null if it does not say
   */
  public CallbackHandler(
      ClientIdentity identity,
      JobRunner runner,
      SchedulerCalls calls,
      Json json,
      CallbackGuard guard,
      Supplier<@Nullable AdvertisedCallback> advertised) {
    this(identity, runner, calls, json, guard, CallbackBodies.ofHeap(MAX_BODY), advertised);
  }

  CallbackHandler(
      ClientIdentity identity,
      JobRunner runner,
      SchedulerCalls calls,
      Json json,
      CallbackGuard guard,
      CallbackBodies bodies,
      Supplier<@Nullable AdvertisedCallback> advertised) {
    this.identity = identity;
    this.calls = calls;
    this.json = json;
    this.guard = guard;
    this.runner = runner;
    this.bodies = bodies;
    this.advertised = advertised;
  }

  /** Answers a call. It may go on being answered when this returns. */
  public void handle(CallbackExchange exchange) throws IOException {
    if (!exchange.method().equals("POST")) {
      refuseUnread(
          exchange,
          405,
          Map.of("Allow", "POST"),
          "this path takes POST from Punctual schedulers only");
      return;
    }
    String meant = exchange.header(CallbackRequest.APPLICATION);
    if (meant != null && !meant.equals(identity.application())) {
      // Its key is another one: that it is not for us is the better reason.
      refuseUnread(exchange, 421, because(CallbackRefusal.OTHER_APPLICATION), otherApplication());
      return;
    }
    CallbackGuard.Refusal refusal = guard.refusal(exchange);
    if (refusal != null) {
      refuseUnread(exchange, refusal.status(), because(refusal.why()), refusal.text());
      return;
    }
    try (CallbackBodies.Place place = bodies.open()) {
      take(place.read(exchange), exchange);
    } catch (CallbackBodies.NotReadException e) {
      // Whoever schedules knows by 503 that nothing was run: it costs no attempt.
      Map<String, String> headers =
          e.status() == 503 ? Map.of("Retry-After", RETRY_AFTER_SECONDS) : Map.of();
      if (e.dropped()) {
        refuse(exchange, e.status(), headers, e.text());
      } else {
        refuseUnread(exchange, e.status(), headers, e.text());
      }
    }
  }

  private static Map<String, String> because(CallbackRefusal why) {
    return Map.of(CallbackRefusal.HEADER, why.word());
  }

  private void take(byte[] body, CallbackExchange exchange) throws IOException {
    CallbackGuard.Refusal refusal = guard.refusal(exchange, body);
    if (refusal != null) {
      refuse(exchange, refusal.status(), because(refusal.why()), refusal.text());
      return;
    }
    if (!runner.takesJobs()) {
      // Not before the body was read: closing on it would look like a lost answer. The scheduler
      // leaves this instance alone now, and takes the jobs to another one at once.
      refuse(exchange, 503, Map.of("Connection", "close"), "this instance is shutting down");
      return;
    }
    CallbackRequest callback;
    try {
      callback = checked(json.read(body, CallbackRequest.class));
    } catch (JsonException | IllegalArgumentException e) {
      refuse(exchange, 400, Map.of(), "the body is not a callback of a Punctual scheduler");
      return;
    }
    if (!callback.application().equals(identity.application())) {
      refuse(exchange, 421, because(CallbackRefusal.OTHER_APPLICATION), otherApplication());
      return;
    }
    AdvertisedCallback own = advertised.get();
    if (own != null && isForAnother(callback, own)) {
      refuse(
          exchange,
          421,
          because(CallbackRefusal.OTHER_INSTANCE),
          "this is instance "
              + own.instance()
              + " at "
              + own.address()
              + ", and the call is for "
              + callback.instance()
              + (callback.address() == null ? "" : " at " + callback.address()));
      return;
    }
    if (callback.jobs().isEmpty()) {
      if (callback.cancelled() != null) {
        callback
            .cancelled()
            .forEach(job -> runner.cancel(job.taskType(), job.taskId(), job.incarnation()));
      }
      answerPing(exchange);
    } else {
      run(callback, exchange);
    }
  }

  /** Whether the call went to another instance, from where it was passed on. */
  private static boolean isForAnother(CallbackRequest callback, AdvertisedCallback own) {
    if (callback.instance() != null && !callback.instance().equals(own.instance())) {
      return true;
    }
    URI address = own.address();
    // Without a host in the URI (an IPv6 address without brackets) nothing can be compared.
    if (address.getHost() == null || callback.address() == null) {
      return false;
    }
    URI called = URI.create(callback.address());
    return port(called) != port(address)
        || !String.valueOf(called.getHost()).equalsIgnoreCase(address.getHost());
  }

  private static int port(URI address) {
    return address.getPort() >= 0
        ? address.getPort()
        : "https".equalsIgnoreCase(address.getScheme()) ? 443 : 80;
  }

  private void answerPing(CallbackExchange exchange) throws IOException {
    PingAnswer answer =
        new PingAnswer(
            identity.application(),
            guard.now().toEpochMilli(),
            PunctualVersion.text(),
            List.copyOf(new TreeSet<>(runner.types())),
            runner.concurrency(),
            identity.release());
    String line = new String(json.write(answer), StandardCharsets.UTF_8) + "\n";
    CallbackGuard.AnswerSeal seal = guard.seal(exchange);
    exchange
        .answer(200, RESULTS)
        .write(
            (seal == null ? line : line + seal.line(line) + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private String otherApplication() {
    return "this is " + identity.application() + "; the jobs are for another application";
  }

  private void run(CallbackRequest callback, CallbackExchange exchange) throws IOException {
    ResultStream results =
        new ResultStream(
            exchange,
            exchange.answer(200, RESULTS),
            json,
            guard.seal(exchange),
            runner.writer(),
            callback.jobs().size());
    for (CallbackRequest.Job job : callback.jobs()) {
      JobLease lease =
          new RemoteLease(
              calls,
              job.token(),
              // The scheduler keeps it alive; this tells whether it is ours.
              Limits.MIN_TIME_TO_RUN,
              more ->
                  results.write(
                      CallbackResult.extended(job.taskId(), job.incarnation(), more.toMillis())));
      var unused = runner.run(job, lease).thenAccept(results::write);
    }
  }

  // Records read from JSON may hold nulls, whatever their types say.
  @SuppressWarnings({"NullAway", "ConstantConditions"})
  private static CallbackRequest checked(@Nullable CallbackRequest callback) {
    if (callback == null || callback.application() == null || callback.jobs() == null) {
      throw new IllegalArgumentException("incomplete");
    }
    if (callback.address() != null && URI.create(callback.address()).getHost() == null) {
      throw new IllegalArgumentException("no address");
    }
    for (CallbackRequest.Job job : callback.jobs()) {
      if (job == null
          || job.taskId() == null
          || job.taskType() == null
          || job.incarnation() == null
          || job.params() == null
          || job.attempt() < 1
          || job.timeToRun() < 1) {
        throw new IllegalArgumentException("incomplete");
      }
    }
    return callback;
  }

  /** Answers before the body is read, and then lets the rest of it come to nothing. */
  private void refuseUnread(
      CallbackExchange exchange, int status, Map<String, String> headers, String reason)
      throws IOException {
    // Clients that are still sending shall not take the connection for the next call. Without a
    // length: Tomcat reads nothing more once an answer is whole.
    Map<String, String> closing = new HashMap<>(headers);
    closing.put("Connection", "close");
    send(exchange, status, closing, reason).flush();
    bodies.throwAway(exchange);
  }

  private static void refuse(
      CallbackExchange exchange, int status, Map<String, String> headers, String reason)
      throws IOException {
    var unused = send(exchange, status, headers, reason);
  }

  private static OutputStream send(
      CallbackExchange exchange, int status, Map<String, String> headers, String reason)
      throws IOException {
    Map<String, String> all = new HashMap<>(headers);
    all.put("Content-Type", "text/plain");
    OutputStream out = exchange.answer(status, all);
    out.write(reason.getBytes(StandardCharsets.UTF_8));
    return out;
  }
}
