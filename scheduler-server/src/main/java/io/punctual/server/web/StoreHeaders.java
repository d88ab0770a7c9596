package io.punctual.server.web;

import io.punctual.core.Engine;
import io.punctual.core.LossJournal;
import io.punctual.core.job.Bucket;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.durability.Reached;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.http.server.ServletServerHttpResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

/**
 * Adds what the store says to answers.
 *
 * <p>{@code Punctual-Durability} in the answer to each change says where the change was when it was
 * answered; of several changes the weakest. The store reports changes that a request makes on its
 * own thread; controllers report changes that share a call with other requests, by {@link #add}.
 *
 * <p>{@code Punctual-Store} in each answer about jobs names the store and the newest entry of its
 * journal of losses, so that applications notice a new entry at once.
 */
@ControllerAdvice
public class StoreHeaders implements ResponseBodyAdvice<Object>, StoreCalls.Listener {

  private static final String DURABILITY = "Punctual-Durability";
  private static final String STORE = "Punctual-Store";
  private static final String ATTRIBUTE = StoreHeaders.class.getName();

  // The engine tells this listener what it does.
  private final ObjectProvider<Engine> engine;

  StoreHeaders(ObjectProvider<Engine> engine) {
    this.engine = engine;
  }

  @Override
  public void answered(String call, @Nullable Bucket bucket, long nanos) {}

  @Override
  public void failed(String call, @Nullable Bucket bucket, long nanos, RuntimeException e) {}

  @Override
  public void reached(Reached reached) {
    add(reached);
  }

  /** A change that the current request asked for is acknowledged. */
  public static void add(Reached reached) {
    RequestAttributes request = RequestContextHolder.getRequestAttributes();
    if (request == null) {
      return;
    }
    Object before = request.getAttribute(ATTRIBUTE, RequestAttributes.SCOPE_REQUEST);
    if (!(before instanceof Reached weakest) || reached.compareTo(weakest) < 0) {
      request.setAttribute(ATTRIBUTE, reached, RequestAttributes.SCOPE_REQUEST);
    }
  }

  @Override
  public boolean supports(
      MethodParameter returnType, Class<? extends HttpMessageConverter<?>> converterType) {
    return true;
  }

  @Override
  public @Nullable Object beforeBodyWrite(
      @Nullable Object body,
      MethodParameter returnType,
      MediaType selectedContentType,
      Class<? extends HttpMessageConverter<?>> selectedConverterType,
      ServerHttpRequest request,
      ServerHttpResponse response) {
    RequestAttributes attributes = RequestContextHolder.getRequestAttributes();
    if (attributes != null
        && attributes.getAttribute(ATTRIBUTE, RequestAttributes.SCOPE_REQUEST)
            instanceof Reached weakest
        && response instanceof ServletServerHttpResponse servlet
        && servlet.getServletResponse().getStatus() < 400) {
      response.getHeaders().set(DURABILITY, weakest.toString());
    }
    if (request instanceof ServletServerHttpRequest servlet
        && ServedPath.of(servlet.getServletRequest()).startsWith("/api/v1/jobs")) {
      LossJournal journal = engine.getObject().lossJournal();
      if (journal.store() != null) {
        response.getHeaders().set(STORE, journal.store() + ";" + journal.newest());
      }
    }
    return body;
  }
}
