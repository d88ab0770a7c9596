package io.punctual.server.dispatch;

import io.punctual.Limits;
import io.punctual.core.engine.Delivery;
import io.punctual.core.engine.RepeatCause;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.server.security.Printable;
import io.punctual.wire.CallbackRefusal;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.json.JsonMapper;

/**
 * The batch protocol: many jobs a POST, a line a result, each passed on as it arrives. What has no
 * line when the stream ends is unknown.
 */
final class BatchCallback implements Callback {

  private static final Logger log = LoggerFactory.getLogger(BatchCallback.class);
  private static final int MAX_LINE = 64 * 1024;
  private static final long MAX_ANSWER = 16L * 1024 * 1024;
  private static final String IGNORED =
      "it was ignored, since anybody may have sent it (punctual.client.callback.secrets)";

  private final String scheduler;
  private final HttpClient client;
  private final Deadlines deadlines;
  private final InstantSource clock;
  private final Duration avoid;
  private final CallbackKeys keys;
  private final JsonMapper json =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();
  private final ObjectReader results = json.readerFor(CallbackResult.class);

  BatchCallback(
      String scheduler,
      HttpClient client,
      Deadlines deadlines,
      InstantSource clock,
      Duration avoid,
      CallbackKeys keys) {
    this.scheduler = scheduler;
    this.client = client;
    this.keys = keys;
    this.deadlines = deadlines;
    this.clock = clock;
    this.avoid = avoid;
  }

  @Override
  public void call(WorkerInstance instance, List<Attempt> attempts, Runnable taken) {
    Seal seal = new Seal(keys, instance.application(), clock);
    HttpExchange exchange = new HttpExchange(client, request(instance, attempts, seal));
    Deadlines.Watch watch = deadlines.watch(attempts, exchange::abort);
    try {
      HttpResponse<InputStream> response = exchange.await(avoid);
      if (response != null) {
        try (InputStream body = response.body()) {
          if (response.statusCode() == 200) {
            taken.run();
            readLines(body, attempts, seal);
          } else {
            readStatus(response, attempts, taken);
          }
        }
      }
    } catch (IOException e) {
      endAll(attempts, "the connection broke: " + HttpExchange.describe(e));
    } finally {
      watch.close();
    }
  }

  private void readLines(InputStream body, List<Attempt> attempts, Seal seal) throws IOException {
    Map<String, Attempt> byId = new HashMap<>();
    attempts.forEach(attempt -> byId.put(attempt.delivery().taskId(), attempt));
    LineReader lines = new LineReader(body, MAX_LINE, MAX_ANSWER);
    StringBuilder unsigned = new StringBuilder();
    int frame = 0;
    String line;
    while ((line = lines.next()) != null) {
      String signature = CallbackSignature.ofLine(line);
      if (!seal.answerIsSigned()) {
        if (signature == null) {
          take(line, byId);
        }
      } else if (signature == null) {
        unsigned.append(line).append('\n');
      } else if (seal.isOnAnswer(
          signature, CallbackSignature.frame(frame++, unsigned.toString()))) {
        unsigned.toString().lines().forEach(known -> take(known, byId));
        unsigned.setLength(0);
      } else {
        throw distrust(
            attempts, "the answer is not signed with the key of this application: " + IGNORED);
      }
    }
    if (!unsigned.isEmpty()) {
      throw distrust(attempts, "the answer is not signed: " + IGNORED);
    }
    endAll(attempts, "the answer ended without a line for this job");
  }

  private static UntrustedAnswerException distrust(List<Attempt> attempts, String error) {
    endAll(attempts, error);
    return new UntrustedAnswerException(error);
  }

  private void take(String line, Map<String, Attempt> byId) {
    if (line.isEmpty()) {
      return;
    }
    CallbackResult result = parse(line);
    Attempt attempt = result == null ? null : byId.get(result.taskId());
    if (attempt != null
        && result != null
        && attempt.delivery().incarnation().equals(result.incarnation())) {
      end(attempt, result);
    } else {
      log.debug("ignored a line of a callback's answer that belongs to no job of this call");
    }
  }

  private static void end(Attempt attempt, CallbackResult result) {
    String error = result.error() == null ? "" : result.error();
    switch (result.outcome()) {
      case CallbackResult.DONE -> attempt.done();
      case CallbackResult.RETRY -> attempt.failed(error, delay(result.retryAfterMs()));
      case CallbackResult.REJECT -> attempt.rejected(error);
      case CallbackResult.REFUSED -> attempt.undeliverable(error);
      case CallbackResult.EXTENDED -> {
        Duration more = asked(result.timeToRunMs(), Limits.MAX_TIME_TO_RUN);
        if (more != null) {
          attempt.extend(more);
        }
      }
      case CallbackResult.DEFERRED -> {
        Duration within = asked(result.timeToRunMs(), Limits.MAX_DEFERRAL);
        if (within != null) {
          attempt.deferred(within);
        }
      }
      case null, default ->
          log.debug(
              "ignored a callback result with the outcome {}",
              Printable.of(String.valueOf(result.outcome())));
    }
  }

  private static @Nullable Duration asked(@Nullable Long millis, Duration most) {
    if (millis == null || millis <= 0) {
      log.debug("ignored a callback result that asks for no time");
      return null;
    }
    return Duration.ofMillis(Math.min(millis, most.toMillis()));
  }

  private static @Nullable Duration delay(@Nullable Long millis) {
    return millis == null
        ? null
        : Duration.ofMillis(Math.max(0, Math.min(millis, Limits.MAX_RETRY_DELAY.toMillis())));
  }

  private @Nullable CallbackResult parse(String line) {
    try {
      return results.readValue(line);
    } catch (JacksonException e) {
      return null;
    }
  }

  private void readStatus(
      HttpResponse<InputStream> response, List<Attempt> attempts, Runnable taken) {
    int status = response.statusCode();
    String error = "HTTP " + status + " from " + response.uri();
    switch (status) {
      case 404, 405, 410, 415, 421 ->
          throw new NotSentException(
              error + ": nothing there takes jobs of this application", avoid.multipliedBy(10));
      case 401, 403 ->
          throw new NotSentException(error + ": " + refusal(response), avoid.multipliedBy(10));
      case 503 -> throw new NotSentException(error + ": shutting down or overloaded", avoid);
      case 429 -> {
        taken.run();
        Duration delay = RetryAfter.of(response.headers(), clock);
        attempts.forEach(attempt -> attempt.failed(error, delay));
      }
      default -> {
        taken.run();
        String reason =
            status >= 300 && status < 400 ? error + ": redirects are not followed" : error;
        attempts.forEach(attempt -> attempt.failed(reason, null));
      }
    }
  }

  // What the starter says of itself; the scheduler's own words, since others may answer there, too.
  private static String refusal(HttpResponse<InputStream> response) {
    return response
        .headers()
        .firstValue(CallbackRefusal.HEADER)
        .flatMap(CallbackRefusal::of)
        .map(BatchCallback::text)
        .orElse("the application's security refuses the callback");
  }

  private static String text(CallbackRefusal refusal) {
    return switch (refusal) {
      case CLOCK ->
          "the clock there and this scheduler's are more than "
              + CallbackSignature.TOLERANCE_SECONDS
              + " s apart, so that no signed call is let in: let both keep their time by NTP";
      case NO_KEY, NOT_THIS_MACHINE ->
          "the worker has no key: set punctual.client.callback.secrets there";
      case UNSIGNED ->
          "the worker wants signed calls: set punctual.security.signing-keys at this scheduler";
      case WRONG_SIGNATURE ->
          "the signature is not of the worker's key: punctual.client.callback.secrets there and"
              + " punctual.security.signing-keys here differ";
      case REPEATED -> "the call was there before";
      case OTHER_APPLICATION -> "it is another application";
    };
  }

  private static void endAll(List<Attempt> attempts, String error) {
    attempts.forEach(attempt -> attempt.unknown(error, RepeatCause.ANSWER_LOST));
  }

  private HttpRequest request(WorkerInstance instance, List<Attempt> attempts, Seal seal) {
    List<CallbackRequest.Job> jobs =
        attempts.stream().map(attempt -> job(attempt.delivery())).toList();
    byte[] body =
        json.writeValueAsBytes(new CallbackRequest(instance.application(), instance.id(), jobs));
    HttpRequest.Builder request =
        HttpRequest.newBuilder(instance.callback())
            .header("Content-Type", "application/json")
            .header("Accept", "application/x-ndjson")
            .header("User-Agent", "punctual")
            .header(CallbackRequest.APPLICATION, instance.application())
            .header("Punctual-Scheduler", scheduler);
    seal.sign(request, body);
    return request.POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
  }

  private static CallbackRequest.Job job(Delivery delivery) {
    return new CallbackRequest.Job(
        delivery.taskId(),
        delivery.queue().taskType(),
        delivery.incarnation(),
        delivery.attempt(),
        delivery.dueTime(),
        Deadlines.timeToRun(delivery.content()).toMillis(),
        delivery.content().params(),
        delivery.content().headers(),
        delivery.token().text());
  }
}
