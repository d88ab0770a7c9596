package io.punctual.server.dispatch.callback;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.core.Delivery;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.WorkerMetadata;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hc.client5.http.classic.methods.HttpOptions;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * A call that runs nothing, on the way of those that do. In the batch protocol it is a signed
 * request without jobs. In the single protocol every POST is a job, and so it is OPTIONS, which is
 * safe by HTTP's own rules, and not signed: who takes it for a job all the same shall refuse it.
 */
public final class Ping {

  private static final Duration PATIENCE = Duration.ofSeconds(5);
  // An answer may name all task types.
  private static final int MAX_BODY = 256 * 1024;
  private static final ContentType JSON = ContentType.create("application/json");

  private final CallContext context;
  private final JsonMapper json =
      JsonMapper.builder()
          .changeDefaultPropertyInclusion(
              inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_NULL))
          .build();

  public Ping(CallContext context) {
    this.context = context;
  }

  /** Calls the instance. Blocks for some seconds at most. */
  public PingResult send(WorkerInstance instance) {
    return send(instance, null);
  }

  /**
   * Tells the instance that an attempt is to stop; a worker of the single protocol hears it when it
   * extends. Blocks as a ping does. A hint: what becomes of it changes nothing.
   */
  public void cancel(WorkerInstance instance, Delivery delivery) {
    if (isBatch(instance)) {
      var unused =
          send(
              instance,
              List.of(
                  new CallbackRequest.Cancelled(
                      delivery.queue().taskType(), delivery.taskId(), delivery.incarnation())));
    }
  }

  private static boolean isBatch(WorkerInstance instance) {
    return instance.metadata().protocol().equals(WorkerMetadata.BATCH);
  }

  private PingResult send(
      WorkerInstance instance, @Nullable List<CallbackRequest.Cancelled> cancelled) {
    boolean batch = isBatch(instance);
    CallbackSigner signer = context.signer(instance, PATIENCE);
    Exchange exchange =
        context
            .client()
            .exchange(batch ? batch(instance, cancelled, signer) : single(instance), () -> true);
    AtomicBoolean late = new AtomicBoolean();
    Runnable done =
        context
            .deadlines()
            .after(
                PATIENCE,
                () -> {
                  late.set(true);
                  exchange.abort();
                });
    Instant sent = context.clock().instant();
    try (Answer answer = exchange.send(Duration.ZERO)) {
      if (answer == null) {
        return noAnswer(instance.callback(), CallFailure.NO_ANSWER, null);
      }
      Instant at = sent.plus(Duration.between(sent, context.clock().instant()).dividedBy(2));
      byte[] body = answer.body().readNBytes(MAX_BODY);
      return answered(instance.callback(), answer, body, batch ? signer : null, at);
    } catch (NotSentException e) {
      CallFailure failure = CallFailure.of(e, false);
      return failure == CallFailure.ADDRESS_NOT_ALLOWED
          ? new PingResult.NotCalled(e.reason())
          : noAnswer(instance.callback(), failure, e);
    } catch (IOException e) {
      CallFailure failure = late.get() ? CallFailure.NO_ANSWER : CallFailure.of(e, true);
      return noAnswer(instance.callback(), failure, e);
    } finally {
      done.run();
    }
  }

  private PingResult noAnswer(URI callback, CallFailure failure, @Nullable Throwable cause) {
    boolean connected =
        failure == CallFailure.NO_ANSWER
            || failure == CallFailure.NOT_HTTP
            || failure == CallFailure.BROKE;
    return new PingResult.NoAnswer(
        failure, cause, connected && context.client().speaksTls(callback));
  }

  private HttpUriRequestBase batch(
      WorkerInstance instance,
      @Nullable List<CallbackRequest.Cancelled> cancelled,
      CallbackSigner signer) {
    byte[] body =
        json.writeValueAsBytes(
            new CallbackRequest(
                instance.application(),
                instance.id(),
                instance.callback().toString(),
                List.of(),
                cancelled));
    HttpPost request = new HttpPost(instance.callback());
    name(request, instance);
    request.setHeader("Accept", "application/x-ndjson");
    signer.sign(request, body);
    request.setEntity(new ByteArrayEntity(body, JSON));
    return request;
  }

  private HttpUriRequestBase single(WorkerInstance instance) {
    HttpOptions request = new HttpOptions(instance.callback());
    name(request, instance);
    return request;
  }

  private void name(HttpUriRequestBase request, WorkerInstance instance) {
    request.setHeader("User-Agent", "punctual");
    request.setHeader("Punctual-Scheduler", context.scheduler());
    request.setHeader(CallbackRequest.APPLICATION, instance.application());
  }

  private PingResult answered(
      URI callback, Answer answer, byte[] bytes, @Nullable CallbackSigner signer, Instant at) {
    String body = new String(bytes, StandardCharsets.UTF_8);
    int status = answer.status();
    return new PingResult.Answered(
        status,
        answer.headers(),
        body,
        signer == null ? PingResult.Signature.NOT_WANTED : signature(bytes, signer),
        // What servers that want TLS say to those who speak without.
        status == 400 && !body.contains("Punctual") && context.client().speaksTls(callback),
        at);
  }

  private PingResult.Signature signature(byte[] body, CallbackSigner signer) {
    if (!signer.answerIsSigned()) {
      return PingResult.Signature.NOT_WANTED;
    }
    try (AnswerMemory.Share share = context.memory().share()) {
      SignedLines lines = SignedLines.ofPing(body, signer, share);
      while (lines.next() != null) {
        lines.counts();
      }
      return lines.isProven() ? PingResult.Signature.RIGHT : PingResult.Signature.MISSING;
    } catch (SignedLines.FaultException e) {
      return e.fault() == SignedLines.Fault.WRONG
          ? PingResult.Signature.WRONG
          : PingResult.Signature.MISSING;
    } catch (IOException e) {
      return PingResult.Signature.MISSING;
    }
  }
}
