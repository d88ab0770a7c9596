package io.punctual.server.dispatch.callback;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.core.Delivery;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.server.text.Printable;
import io.punctual.wire.CallbackRefusal;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.Limits;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.json.JsonMapper;

/**
 * The batch protocol: many jobs a POST, a line a result, each passed on as it arrives. The outcome
 * of a job without a line is unknown.
 */
public final class BatchProtocol implements CallbackProtocol {

  private static final Logger log = LoggerFactory.getLogger(BatchProtocol.class);
  private static final String IGNORED =
      "it was ignored, since anybody may have sent it (punctual.callback.secrets)";
  private static final ContentType JSON = ContentType.create("application/json");

  private final CallContext context;
  private final JsonMapper json =
      JsonMapper.builder()
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .changeDefaultPropertyInclusion(
              inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_NULL))
          .build();
  private final ObjectReader results = json.readerFor(CallbackResult.class);

  public BatchProtocol(CallContext context) {
    this.context = context;
  }

  @Override
  public boolean sharesCalls() {
    return true;
  }

  @Override
  public void call(WorkerInstance instance, List<? extends Attempt> attempts, Runnable taken) {
    Duration lease =
        attempts.stream()
            .map(attempt -> attempt.delivery().leaseLeft())
            .min(Comparator.naturalOrder())
            .orElseThrow();
    CallbackSigner signer = context.signer(instance, lease);
    Exchange exchange =
        context
            .client()
            .exchange(
                request(instance, attempts, signer),
                () -> attempts.stream().allMatch(attempt -> attempt.delivery().leaseHeld()));
    Deadlines.Watch watch = context.deadlines().watch(attempts, exchange::abort);
    try (Answer answer = exchange.send(context.avoid())) {
      if (answer == null) {
        return;
      } else if (answer.status() == 200) {
        taken.run();
        readLines(answer, attempts, signer);
      } else {
        readStatus(instance, answer, attempts, taken);
      }
    } catch (BadAnswerException e) {
      String reason = String.valueOf(e.getMessage());
      attempts.forEach(attempt -> attempt.badAnswer(reason));
    } catch (IOException e) {
      endAll(attempts, CallFailure.of(e, true));
    } finally {
      watch.close();
    }
  }

  private static void endAll(List<? extends Attempt> attempts, CallFailure failure) {
    if (failure == CallFailure.NOT_HTTP) {
      attempts.forEach(attempt -> attempt.badAnswer(failure.text()));
    } else {
      attempts.forEach(attempt -> attempt.connectionBroke(failure.text()));
    }
  }

  private void readLines(Answer answer, List<? extends Attempt> attempts, CallbackSigner signer)
      throws IOException {
    Map<String, Attempt> byId = new HashMap<>();
    attempts.forEach(attempt -> byId.put(attempt.delivery().taskId(), attempt));
    try (AnswerMemory.Share share = context.memory().share()) {
      SignedLines lines = new SignedLines(answer.body(), attempts.size(), signer, share);
      List<byte[]> some;
      while ((some = lines.next()) != null) {
        for (byte[] line : some) {
          if (take(line, byId)) {
            lines.counts();
          }
        }
      }
    } catch (SignedLines.FaultException e) {
      String error =
          e.fault() == SignedLines.Fault.WRONG
              ? "the answer is not signed with the key of this application: " + IGNORED
              : "the answer is not signed: " + IGNORED;
      attempts.forEach(attempt -> attempt.badAnswer(error));
      throw new UntrustedAnswerException(error);
    }
    attempts.forEach(attempt -> attempt.badAnswer("the answer ended without a line for this job"));
  }

  /** Whether the line was a result of one of the jobs. */
  private boolean take(byte[] line, Map<String, Attempt> byId) {
    if (line.length == 0) {
      return false;
    }
    CallbackResult result = parse(line);
    Attempt attempt = result == null ? null : byId.get(result.taskId());
    if (attempt != null
        && result != null
        && attempt.delivery().incarnation().equals(result.incarnation())) {
      end(attempt, result);
      return true;
    }
    log.debug("ignored a line of a callback's answer that belongs to no job of this call");
    return false;
  }

  private static void end(Attempt attempt, CallbackResult result) {
    String error = result.error() == null ? "" : result.error();
    switch (result.outcome()) {
      case CallbackResult.DONE -> attempt.done();
      case CallbackResult.RETRY -> attempt.failed(error, delay(result.retryAfterMs()));
      case CallbackResult.REJECT -> attempt.rejected(error);
      case CallbackResult.REFUSED -> attempt.refused(error);
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

  private @Nullable CallbackResult parse(byte[] line) {
    try {
      return results.readValue(line);
    } catch (JacksonException e) {
      return null;
    }
  }

  private void readStatus(
      WorkerInstance instance, Answer answer, List<? extends Attempt> attempts, Runnable taken) {
    int status = answer.status();
    String error = "HTTP " + status + " from " + instance.callback();
    switch (status) {
      case 421 ->
          throw NotSentException.byInstance(
              error
                  + ": "
                  + refusal(answer).map(BatchProtocol::text).orElse("it is another application"),
              // One call that was held up says little of the next.
              refusal(answer).filter(CallbackRefusal.LATE::equals).isPresent()
                  ? context.avoid()
                  : context.avoid().multipliedBy(10),
              null);
      case 404, 405, 410, 415 ->
          throw NotSentException.byInstance(
              error + ": nothing there takes jobs of this application",
              context.avoid().multipliedBy(10),
              null);
      case 401, 403 ->
          throw NotSentException.byInstance(
              error
                  + ": "
                  + refusal(answer)
                      .map(BatchProtocol::text)
                      .orElse("the application's security refuses the callback"),
              context.avoid().multipliedBy(10),
              null);
      case 503 ->
          throw NotSentException.byInstance(
              error + ": shutting down or overloaded", context.avoid(), null);
      case 429 -> {
        taken.run();
        Duration delay = RetryAfter.of(answer.header("Retry-After"), context.clock());
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
  private static Optional<CallbackRefusal> refusal(Answer answer) {
    return Optional.ofNullable(answer.header(CallbackRefusal.HEADER)).flatMap(CallbackRefusal::of);
  }

  private static String text(CallbackRefusal refusal) {
    return switch (refusal) {
      case CLOCK ->
          "the clock there and this scheduler's are more than "
              + CallbackSignature.TOLERANCE_SECONDS
              + " s apart, so that no signed call is let in: let both keep their time by NTP";
      case NO_KEY, NOT_THIS_MACHINE -> "the worker has no key: set punctual.callback.secrets there";
      case UNSIGNED ->
          "the worker wants signed calls: set punctual.security.signing-keys at this scheduler";
      case WRONG_SIGNATURE ->
          "the signature is not of the worker's key: punctual.callback.secrets there and"
              + " punctual.security.signing-keys here differ";
      case LATE ->
          "the jobs' lease had ended by the clock there: the call was delayed on its way, or that"
              + " clock is more than "
              + CallbackSignature.END_TOLERANCE.toSeconds()
              + " s ahead of this scheduler's: let both keep their time by NTP";
      case REPEATED -> "the call was there before";
      case OTHER_APPLICATION -> "it is another application";
      case OTHER_INSTANCE -> "it is another instance";
    };
  }

  private HttpPost request(
      WorkerInstance instance, List<? extends Attempt> attempts, CallbackSigner signer) {
    List<CallbackRequest.Job> jobs =
        attempts.stream().map(attempt -> job(attempt.delivery())).toList();
    byte[] body =
        json.writeValueAsBytes(
            new CallbackRequest(
                instance.application(), instance.id(), instance.callback().toString(), jobs));
    HttpPost request = new HttpPost(instance.callback());
    request.setHeader("Accept", "application/x-ndjson");
    request.setHeader("User-Agent", "punctual");
    request.setHeader(CallbackRequest.APPLICATION, instance.application());
    request.setHeader("Punctual-Scheduler", context.scheduler());
    signer.sign(request, body);
    request.setEntity(new ByteArrayEntity(body, JSON));
    return request;
  }

  private static CallbackRequest.Job job(Delivery delivery) {
    return new CallbackRequest.Job(
        delivery.taskId(),
        delivery.queue().taskType(),
        delivery.incarnation(),
        delivery.attempt(),
        delivery.version(),
        delivery.claimedAt(),
        delivery.dueTime(),
        delivery.lateSince(),
        Deadlines.timeToRun(delivery.content()).toMillis(),
        delivery.content().params(),
        delivery.content().headers(),
        delivery.token().text());
  }
}
