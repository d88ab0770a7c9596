package io.punctual.server.dispatch.callback;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.core.Delivery;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackSignature;
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
 * Calls an instance on the same way as a job, but runs nothing. In the batch protocol, a ping is a
 * signed request without jobs. In the single protocol, every POST is a job, so a ping is OPTIONS,
 * which is safe by HTTP's own rules. It is not signed, so a worker that takes it for a job refuses
 * it. The answer in the single protocol signs the instance's own address, so an impostor cannot
 * pass the ping on to the instance.
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
            .exchange(
                batch ? batch(instance, cancelled, signer) : single(instance, signer), () -> true);
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
      PingResult.Signature signature =
          !signer.answerIsSigned()
              ? PingResult.Signature.NOT_WANTED
              : batch ? ofLines(body, signer) : ofHeader(answer, instance.callback(), signer);
      return answered(instance.callback(), answer, body, signature, at);
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

  private HttpUriRequestBase single(WorkerInstance instance, CallbackSigner signer) {
    HttpOptions request = new HttpOptions(instance.callback());
    name(request, instance);
    if (signer.answerIsSigned()) {
      request.setHeader(CallbackSignature.PING, signer.ping());
    }
    return request;
  }

  private void name(HttpUriRequestBase request, WorkerInstance instance) {
    request.setHeader("User-Agent", "punctual");
    request.setHeader("Punctual-Scheduler", context.scheduler());
    request.setHeader(CallbackRequest.APPLICATION, instance.application());
  }

  private PingResult answered(
      URI callback, Answer answer, byte[] bytes, PingResult.Signature signature, Instant at) {
    String body = new String(bytes, StandardCharsets.UTF_8);
    int status = answer.status();
    return new PingResult.Answered(
        status,
        answer.headers(),
        body,
        signature,
        // What servers that want TLS say to those who speak without.
        status == 400 && !body.contains("Punctual") && context.client().speaksTls(callback),
        at);
  }

  private static PingResult.Signature ofHeader(Answer answer, URI address, CallbackSigner signer) {
    String signature = answer.header(CallbackSignature.ANSWER);
    if (signature == null) {
      return PingResult.Signature.MISSING;
    }
    return signer.isOnPing(signature, address)
        ? PingResult.Signature.RIGHT
        : PingResult.Signature.WRONG;
  }

  private PingResult.Signature ofLines(byte[] body, CallbackSigner signer) {
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
