package io.punctual.spring.client.reactive;

import io.punctual.client.callback.CallbackExchange;
import io.punctual.client.callback.CallbackGuard;
import io.punctual.client.callback.CallbackHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.HttpHandlerDecoratorFactory;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Takes the callbacks of a reactive web server, in front of all other filters: the application's
 * own filters, security included, do not see requests to this path. A request has a thread while
 * its body is read and its jobs are started; jobs that run hold none of these threads.
 */
public final class ReactiveCallback
    implements WebFilter, HttpHandlerDecoratorFactory, Ordered, AutoCloseable {

  /** As many as Tomcat has by default. */
  private static final int MAX_THREADS = 200;

  /**
   * How long Tomcat waits for a byte by default. Netty of Spring Boot 3.5 does not end the body of
   * a request whose connection broke: then this does.
   */
  private static final Duration SILENCE = Duration.ofSeconds(20);

  private static final String UNKNOWN = "0.0.0.0";

  /** The key that marks, in its context, a request that came through a proxy. */
  private static final Class<?> FORWARDED = ReactiveCallback.class;

  private final CallbackHandler handler;
  private final String path;
  private final ApplicationContext context;
  private final Scheduler threads =
      Schedulers.newBoundedElastic(
          MAX_THREADS, Schedulers.DEFAULT_BOUNDED_ELASTIC_QUEUESIZE, "punctual-callback", 60, true);

  /**
   * @param path within the application, which schedulers call
   * @param context whose web server they call; the management server has another one
   */
  public ReactiveCallback(CallbackHandler handler, String path, ApplicationContext context) {
    this.handler = handler;
    this.path = path;
    this.context = context;
  }

  @Override
  public int getOrder() {
    return Ordered.HIGHEST_PRECEDENCE;
  }

  /** Looks at each request before Spring removes the headers of proxies. */
  @Override
  public HttpHandler apply(HttpHandler next) {
    return (request, response) -> {
      boolean forwarded = CallbackGuard.isForwarded(request.getHeaders()::getFirst);
      Mono<Void> handled = next.handle(request, response);
      return forwarded ? handled.contextWrite(known -> known.put(FORWARDED, true)) : handled;
    };
  }

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    ServerHttpRequest request = exchange.getRequest();
    return request.getPath().pathWithinApplication().value().equals(path)
            && exchange.getApplicationContext() == context
        ? Mono.deferContextual(
            known -> new Call(request, exchange.getResponse(), known.hasKey(FORWARDED)).answered())
        : chain.filter(exchange);
  }

  @Override
  public void close() {
    threads.dispose();
  }

  private final class Call implements CallbackExchange {

    private final ServerHttpRequest request;
    private final ServerHttpResponse response;
    private final boolean forwarded;
    private final Sinks.One<Mono<Void>> begun = Sinks.one();
    private final Answer answer = new Answer();
    private @Nullable InputStream body;
    private @Nullable BooleanSupplier rest;
    private boolean held;

    Call(ServerHttpRequest request, ServerHttpResponse response, boolean forwarded) {
      this.request = request;
      this.response = response;
      this.forwarded = forwarded;
    }

    private Mono<Void> answered() {
      return Mono.defer(
          () -> {
            // A caller that goes away does not interrupt it: jobs may have been started.
            threads.schedule(this::handle);
            return begun.asMono().flatMap(written -> written);
          });
    }

    private void handle() {
      try {
        handler.handle(this);
        if (!held) {
          end();
        }
      } catch (IOException | RuntimeException | Error e) {
        if (begun.tryEmitError(e) != Sinks.EmitResult.OK) {
          answer.fail(e);
        }
      }
    }

    private void end() {
      answer.flush();
      if (rest != null) {
        // Whether all of it came or not: the answer says that the connection ends.
        var unused = rest.getAsBoolean();
      }
      answer.close();
    }

    @Override
    public String method() {
      return request.getMethod().name();
    }

    @Override
    public @Nullable String header(String name) {
      return request.getHeaders().getFirst(name);
    }

    @Override
    public String remoteAddress() {
      InetSocketAddress caller = request.getRemoteAddress();
      // Not resolved where a header of a proxy tells it: then it is no address of this machine.
      return caller == null || caller.getAddress() == null
          ? UNKNOWN
          : caller.getAddress().getHostAddress();
    }

    @Override
    public String serverName() {
      String host = request.getURI().getHost();
      return host == null ? "" : host;
    }

    @Override
    public boolean forwarded() {
      return forwarded;
    }

    @Override
    public InputStream body() {
      if (body == null) {
        body = new BodyInputStream(request.getBody(), SILENCE);
      }
      return body;
    }

    @Override
    public OutputStream answer(int status, Map<String, String> headers) {
      response.setStatusCode(HttpStatusCode.valueOf(status));
      headers.forEach(response.getHeaders()::set);
      if (rest != null) {
        response.getHeaders().set("Connection", "close");
      }
      var unused =
          begun.tryEmitValue(
              response.writeAndFlushWith(
                  answer
                      .parts
                      .asFlux()
                      .doOnCancel(answer::breakOff)
                      .map(part -> Mono.fromSupplier(() -> buffer(part)))));
      return answer;
    }

    private DataBuffer buffer(byte[] part) {
      return response.bufferFactory().wrap(part);
    }

    @Override
    public Runnable hold(Runnable broken) {
      held = true;
      answer.onBreak(broken);
      return answer::close;
    }

    @Override
    public void afterAnswer(BooleanSupplier rest) {
      this.rest = rest;
    }
  }

  /** The body of an answer. What was written is sent by a flush. */
  private static final class Answer extends OutputStream {

    private final Sinks.Many<byte[]> parts = Sinks.many().unicast().onBackpressureBuffer();
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private Runnable broken = () -> {};
    private boolean isBroken;

    @Override
    public void write(int one) {
      written.write(one);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      written.write(bytes, offset, length);
    }

    /** Sends what was written; nothing happens if the caller is gone. */
    @Override
    public void flush() {
      // An empty one sends the status and the headers.
      var unused = parts.tryEmitNext(written.toByteArray());
      written.reset();
    }

    @Override
    public void close() {
      if (written.size() > 0) {
        flush();
      }
      var unused = parts.tryEmitComplete();
    }

    private void fail(Throwable e) {
      var unused = parts.tryEmitError(e);
    }

    private void onBreak(Runnable action) {
      boolean now;
      synchronized (this) {
        broken = action;
        now = isBroken;
      }
      if (now) {
        action.run();
      }
    }

    private void breakOff() {
      Runnable action;
      synchronized (this) {
        isBroken = true;
        action = broken;
      }
      action.run();
    }
  }
}
