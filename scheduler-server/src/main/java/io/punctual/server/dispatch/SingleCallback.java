package io.punctual.server.dispatch;

import io.punctual.DelayQueueJob;
import io.punctual.Limits;
import io.punctual.core.engine.Delivery;
import io.punctual.core.engine.RepeatCause;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/**
 * The single protocol: one job a POST, as a CloudEvent in HTTP binary mode, for any web application
 * in any language. The status is the answer.
 */
final class SingleCallback implements Callback {

  private final String scheduler;
  private final HttpClient client;
  private final Deadlines deadlines;
  private final InstantSource clock;
  private final Duration avoid;
  private final CallbackKeys keys;

  SingleCallback(
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
    Attempt attempt = attempts.get(0);
    Seal seal = new Seal(keys, instance.application(), clock);
    HttpExchange exchange = new HttpExchange(client, request(instance, attempt.delivery(), seal));
    Deadlines.Watch watch = deadlines.watch(attempts, exchange::abort);
    try {
      HttpResponse<InputStream> response = exchange.await(avoid);
      if (response != null) {
        // The status is the answer; a body, of whatever size, is not read.
        response.body().close();
        if (response.statusCode() != 421 && response.statusCode() != 410) {
          taken.run();
        }
        end(attempt, response, seal);
      }
    } catch (IOException e) {
      attempt.unknown("the connection broke: " + HttpExchange.describe(e), RepeatCause.ANSWER_LOST);
    } finally {
      watch.close();
    }
  }

  private void end(Attempt attempt, HttpResponse<InputStream> response, Seal seal) {
    int status = response.statusCode();
    String error = "HTTP " + status + " from " + response.uri();
    boolean done = status >= 200 && status < 300;
    String deferral = response.headers().firstValue(CallbackRequest.DEFER).orElse(null);
    boolean deferred = status == 202 && deferral != null;
    // Whoever could take the header away, or add it, would otherwise end a job that goes on.
    String signed = deferred ? status + " " + deferral : Integer.toString(status);
    if ((done || status == 422) && seal.answerIsSigned() && !isSigned(response, seal, signed)) {
      // It would be the end of the job, and anybody may have said so.
      String unsigned =
          error
              + " is not signed with the key of this application ("
              + CallbackSignature.ANSWER
              + "): it was ignored";
      attempt.unknown(unsigned, RepeatCause.ANSWER_LOST);
      throw new UntrustedAnswerException(unsigned);
    } else if (deferred) {
      defer(attempt, String.valueOf(deferral), error);
    } else if (done) {
      attempt.done();
    } else if (status == 421) {
      throw new NotSentException(error + ": another application answers there", avoid);
    } else if (status == 410) {
      throw new NotSentException(
          error + ": the instance wants no more jobs of this type", Duration.ofMinutes(1));
    } else if (status == 422) {
      attempt.rejected(error);
    } else if (status == 429 || status == 502 || status == 503 || status == 504) {
      attempt.failed(error, RetryAfter.of(response.headers(), clock));
    } else if (status >= 300 && status < 400) {
      attempt.failed(error + ": redirects are not followed", null);
    } else {
      attempt.failed(error, null);
    }
  }

  private static void defer(Attempt attempt, String within, String error) {
    try {
      attempt.deferred(Limits.requireDeferral(DelayQueueJob.parseDuration(within)));
    } catch (IllegalArgumentException e) {
      attempt.failed(
          "%s: %s is no time within which a job may be finished, such as 10m: %s"
              .formatted(error, CallbackRequest.DEFER, e.getMessage()),
          null);
    }
  }

  private static boolean isSigned(HttpResponse<InputStream> response, Seal seal, String content) {
    return seal.isOnAnswer(
        response.headers().firstValue(CallbackSignature.ANSWER).orElse(null), content);
  }

  private HttpRequest request(WorkerInstance instance, Delivery delivery, Seal seal) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(instance.callback())
            .header("User-Agent", "punctual")
            .header("Punctual-Scheduler", scheduler)
            .header(
                "Content-Type",
                delivery.content().headers().getOrDefault("content-type", "application/json"))
            .header("ce-specversion", "1.0")
            .header("ce-id", encode(delivery.taskId()))
            .header("ce-type", encode(delivery.queue().taskType()))
            .header(
                "ce-source",
                "/"
                    + encode(delivery.queue().application())
                    + "/"
                    + encode(delivery.queue().taskType()))
            .header("ce-time", Instant.ofEpochMilli(delivery.dueTime()).toString())
            .header("ce-attempt", Integer.toString(delivery.attempt()))
            .header(CallbackRequest.APPLICATION, instance.application())
            .header("Punctual-Instance", instance.id())
            .header("Punctual-Incarnation", delivery.incarnation())
            .header(CallbackRequest.TOKEN, delivery.token().text());
    String trace = delivery.content().headers().get("traceparent");
    if (trace != null && trace.matches("[0-9a-f-]{55}")) {
      // The worker's own instrumentation goes on with it.
      request.header("traceparent", trace).header("ce-traceparent", trace);
    }
    delivery
        .content()
        .headers()
        .forEach((name, value) -> request.header("Punctual-Header-" + name, value));
    byte[] body = delivery.content().params().getBytes(StandardCharsets.UTF_8);
    seal.sign(request, body);
    return request.POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
  }

  // CloudEvents wants header values percent-encoded; our names need it for nothing but themselves.
  private static String encode(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("%3A", ":");
  }
}
