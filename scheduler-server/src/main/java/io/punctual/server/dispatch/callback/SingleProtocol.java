package io.punctual.server.dispatch.callback;

import io.punctual.DelayQueueJob;
import io.punctual.core.Delivery;
import io.punctual.core.job.JobContent;
import io.punctual.internal.OneLine;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.Limits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The single protocol: one job a POST, as a CloudEvent in HTTP binary mode, for any web application
 * in any language. The status is the answer.
 */
public final class SingleProtocol implements CallbackProtocol {

  // A body of this size is read, so that the connection can be used again; a larger one ends it.
  private static final int MAX_BODY = 16 * 1024;
  // Of the body of an answer that ends no job well, bytes and characters.
  private static final int MAX_WORDS_BODY = 4 * 1024;
  private static final int MAX_WORDS = 1_000;
  private static final Duration BODY_TIME = Duration.ofSeconds(1);
  private static final Duration RETIRED = Duration.ofMinutes(1);

  private static final Pattern WORDS =
      Pattern.compile("text/plain|application/([a-z0-9_.+-]+\\+)?json", Pattern.CASE_INSENSITIVE);

  private static final Logger log = LoggerFactory.getLogger(SingleProtocol.class);

  private final CallContext context;

  public SingleProtocol(CallContext context) {
    this.context = context;
  }

  @Override
  public boolean sharesCalls() {
    return false;
  }

  @Override
  public void call(WorkerInstance instance, List<? extends Attempt> attempts, Runnable taken) {
    Attempt attempt = attempts.get(0);
    CallbackSigner signer = context.signer(instance, attempt.delivery().leaseLeft());
    Exchange exchange =
        context
            .client()
            .exchange(
                request(instance, attempt.delivery(), signer),
                () -> attempt.delivery().leaseHeld());
    Deadlines.Watch watch = context.deadlines().watch(attempts, exchange::abort);
    try (Answer answer = exchange.send(context.avoid())) {
      watch.close();
      if (answer != null) {
        if (answer.status() != 421 && answer.status() != 410) {
          taken.run();
        }
        try {
          end(instance, attempt, answer, signer, words(answer, exchange));
        } finally {
          readRest(answer, exchange);
        }
      }
    } catch (IOException e) {
      CallFailure failure = CallFailure.of(e, true);
      if (failure == CallFailure.NOT_HTTP) {
        attempt.badAnswer(failure.text());
      } else {
        attempt.connectionBroke(failure.text());
      }
    } finally {
      watch.close();
    }
  }

  /** What follows is read only to keep the connection. */
  private void readRest(Answer answer, Exchange exchange) {
    byte[] unused = read(answer, exchange, MAX_BODY);
  }

  /**
   * Returns how the body of an answer that did not do the job begins; empty if it is no plain text
   * and no JSON.
   */
  private String words(Answer answer, Exchange exchange) {
    String type = answer.header("Content-Type");
    if (answer.status() < 300 || type == null || !WORDS.matcher(type).lookingAt()) {
      return "";
    }
    byte[] begin = read(answer, exchange, MAX_WORDS_BODY);
    ContentType content = ContentType.parseLenient(type);
    Charset charset = content == null ? null : content.getCharset();
    return OneLine.of(
        new String(begin, Objects.requireNonNullElse(charset, StandardCharsets.UTF_8)).strip(),
        MAX_WORDS);
  }

  /**
   * Reads as much of the body as comes within a second; what breaks off counts as far as it came.
   */
  private byte[] read(Answer answer, Exchange exchange, int max) {
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    if (answer.isEnded()) {
      return read.toByteArray();
    }
    Runnable done = context.deadlines().after(BODY_TIME, exchange::abort);
    byte[] part = new byte[1024];
    try {
      int count;
      while (read.size() < max
          && (count = answer.body().read(part, 0, Math.min(part.length, max - read.size()))) >= 0) {
        read.write(part, 0, count);
      }
    } catch (IOException e) {
      log.trace("The connection ends with the answer", e);
    } finally {
      done.run();
    }
    return read.toByteArray();
  }

  private void end(
      WorkerInstance instance,
      Attempt attempt,
      Answer answer,
      CallbackSigner signer,
      String words) {
    int status = answer.status();
    String error =
        "HTTP " + status + " from " + instance.callback() + (words.isEmpty() ? "" : ": " + words);
    boolean done = status >= 200 && status < 300;
    String deferral = answer.header(CallbackRequest.DEFER);
    boolean deferred = status == 202 && deferral != null;
    // Else a proxy that adds or removes the header could end a job that still runs.
    String signed = deferred ? status + " " + deferral : Integer.toString(status);
    if ((done || status == 422) && signer.answerIsSigned() && !isSigned(answer, signer, signed)) {
      // It would end the job, and the answer is not authenticated.
      String unsigned =
          error
              + " is not signed with the key of this application ("
              + CallbackSignature.ANSWER
              + "): it was ignored";
      attempt.badAnswer(unsigned);
      throw new UntrustedAnswerException(unsigned);
    } else if (deferred) {
      defer(attempt, String.valueOf(deferral), error);
    } else if (done) {
      attempt.done();
    } else if (status == 421) {
      throw NotSentException.byInstance(
          error + ": the instance says that the call is not for it", context.avoid(), null);
    } else if (status == 410) {
      throw NotSentException.byType(
          error + ": the instance wants no more jobs of this type", RETIRED);
    } else if (status == 422) {
      attempt.rejected(error);
    } else if (status == 429 || status == 502 || status == 503 || status == 504) {
      attempt.failed(error, RetryAfter.of(answer.header("Retry-After"), context.clock()));
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

  private static boolean isSigned(Answer answer, CallbackSigner signer, String content) {
    return signer.isOnAnswer(
        answer.header(CallbackSignature.ANSWER), content.getBytes(StandardCharsets.UTF_8));
  }

  private HttpPost request(WorkerInstance instance, Delivery delivery, CallbackSigner signer) {
    JobContent content = delivery.content();
    String application = encode(delivery.queue().application());
    String taskType = encode(delivery.queue().taskType());
    HttpPost request = new HttpPost(instance.callback());
    request.setHeader("User-Agent", "punctual");
    request.setHeader("Punctual-Scheduler", context.scheduler());
    request.setHeader(
        "Content-Type", content.headers().getOrDefault("content-type", "application/json"));
    request.setHeader("ce-specversion", "1.0");
    request.setHeader("ce-id", encode(delivery.taskId()));
    request.setHeader("ce-type", taskType);
    request.setHeader("ce-source", "/" + application + "/" + taskType);
    request.setHeader("ce-time", Instant.ofEpochMilli(delivery.dueTime()).toString());
    request.setHeader("ce-attempt", Integer.toString(delivery.attempt()));
    request.setHeader(CallbackRequest.APPLICATION, instance.application());
    request.setHeader("Punctual-Instance", instance.id());
    request.setHeader("Punctual-Incarnation", delivery.incarnation());
    request.setHeader(CallbackRequest.VERSION, Long.toString(delivery.version()));
    request.setHeader(CallbackRequest.CLAIMED_AT, Long.toString(delivery.claimedAt()));
    request.setHeader(CallbackRequest.TOKEN, delivery.token().text());
    String trace = content.headers().get("traceparent");
    if (trace != null && trace.matches("[0-9a-f-]{55}")) {
      // The worker's own instrumentation goes on with it.
      request.setHeader("traceparent", trace);
      request.setHeader("ce-traceparent", trace);
    }
    content.headers().forEach((name, value) -> request.addHeader("Punctual-Header-" + name, value));
    byte[] body = content.params().getBytes(StandardCharsets.UTF_8);
    signer.sign(request, body);
    request.setEntity(new ByteArrayEntity(body, null));
    return request;
  }

  // CloudEvents wants header values percent-encoded; our names need it for nothing but themselves.
  private static String encode(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("%3A", ":");
  }
}
