package io.punctual.server.dispatch;

import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.WorkerMetadata;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * A call that runs nothing, on the way of those that do. In the batch protocol it is a signed
 * request without jobs. In the single protocol every POST is a job, and so it is OPTIONS, which is
 * safe by HTTP's own rules, and not signed: who takes it for a job all the same shall refuse it.
 */
final class Ping {

  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final int TLS_PATIENCE_MS = 1_000;
  private static final int MAX_BODY = 64 * 1024;

  private final String scheduler;
  private final HttpClient client;
  private final CallbackTargets targets;
  private final CallbackKeys keys;
  private final InstantSource clock;
  private final Executor threads;
  private final JsonMapper json = new JsonMapper();

  Ping(
      String scheduler,
      HttpClient client,
      CallbackTargets targets,
      CallbackKeys keys,
      InstantSource clock,
      Executor threads) {
    this.scheduler = scheduler;
    this.client = client;
    this.targets = targets;
    this.keys = keys;
    this.clock = clock;
    this.threads = threads;
  }

  PingResult send(WorkerInstance instance) {
    URI callback = instance.callback();
    if (callback.getHost() != null) {
      try {
        var unused = InetAddress.getAllByName(callback.getHost());
      } catch (UnknownHostException e) {
        return new PingResult.NoAnswer(e, false, false);
      }
    }
    String refusal = targets.refusal(callback);
    if (refusal != null) {
      return new PingResult.NotCalled(refusal);
    }
    boolean batch = instance.metadata().protocol().equals(WorkerMetadata.BATCH);
    Seal seal = new Seal(keys, instance.application(), clock);
    try {
      return answer(batch ? batch(instance, seal) : single(instance), seal, batch);
    } catch (IOException e) {
      boolean connected = !HttpExchange.notSent(e);
      return new PingResult.NoAnswer(e, connected, connected && speaksTls(callback));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new PingResult.NoAnswer(new IOException("the scheduler ends", e), false, false);
    }
  }

  private HttpRequest batch(WorkerInstance instance, Seal seal) {
    byte[] body =
        json.writeValueAsBytes(
            new CallbackRequest(instance.application(), instance.id(), List.of()));
    HttpRequest.Builder request =
        request(instance)
            .header("Content-Type", "application/json")
            .header("Accept", "application/x-ndjson");
    seal.sign(request, body);
    return request.POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
  }

  private HttpRequest single(WorkerInstance instance) {
    return request(instance).method("OPTIONS", HttpRequest.BodyPublishers.noBody()).build();
  }

  private HttpRequest.Builder request(WorkerInstance instance) {
    return HttpRequest.newBuilder(instance.callback())
        .header("User-Agent", "punctual")
        .header("Punctual-Scheduler", scheduler)
        .header(CallbackRequest.APPLICATION, instance.application());
  }

  private PingResult answer(HttpRequest request, Seal seal, boolean batch)
      throws IOException, InterruptedException {
    Instant sent = clock.instant();
    long end = System.nanoTime() + PATIENCE.toNanos();
    HttpResponse<InputStream> response =
        await(client.sendAsync(request, HttpResponse.BodyHandlers.ofInputStream()), end);
    Instant at = sent.plus(Duration.between(sent, clock.instant()).dividedBy(2));
    try (InputStream in = response.body()) {
      String body = await(CompletableFuture.supplyAsync(() -> read(in), threads), end);
      int status = response.statusCode();
      return new PingResult.Answered(
          status,
          response.headers(),
          body,
          batch ? signature(body, seal) : PingResult.Signature.NOT_WANTED,
          // What servers that want TLS say to those who speak without.
          status == 400 && !body.contains("Punctual") && speaksTls(request.uri()),
          at);
    }
  }

  private static String read(InputStream in) {
    try {
      return new String(in.readNBytes(MAX_BODY), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static <T> T await(Future<T> future, long end) throws IOException, InterruptedException {
    try {
      return future.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new HttpTimeoutException("no answer within " + PATIENCE.toSeconds() + " s");
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
    } finally {
      future.cancel(true);
    }
  }

  private static PingResult.Signature signature(String body, Seal seal) {
    if (!seal.answerIsSigned()) {
      return PingResult.Signature.NOT_WANTED;
    }
    StringBuilder unsigned = new StringBuilder();
    int frame = 0;
    for (String line : body.lines().toList()) {
      String signature = CallbackSignature.ofLine(line);
      if (signature == null) {
        unsigned.append(line).append('\n');
      } else if (seal.isOnAnswer(
          signature, CallbackSignature.frame(frame++, unsigned.toString()))) {
        unsigned.setLength(0);
      } else {
        return PingResult.Signature.WRONG;
      }
    }
    return frame > 0 && unsigned.isEmpty()
        ? PingResult.Signature.RIGHT
        : PingResult.Signature.MISSING;
  }

  /** Whether it is plain HTTP that is wrong there. Nothing is sent but the beginning of TLS. */
  private static boolean speaksTls(URI callback) {
    if (!"http".equals(callback.getScheme())) {
      return false;
    }
    try (SSLSocket socket = (SSLSocket) SSLSocketFactory.getDefault().createSocket()) {
      socket.connect(
          new InetSocketAddress(callback.getHost(), callback.getPort()), TLS_PATIENCE_MS);
      socket.setSoTimeout(TLS_PATIENCE_MS);
      socket.startHandshake();
      return true;
    } catch (SSLHandshakeException e) {
      // A certificate that is not trusted, or somebody who asks for ours: that is TLS, too.
      return !(e.getCause() instanceof EOFException);
    } catch (IOException e) {
      return false;
    }
  }
}
