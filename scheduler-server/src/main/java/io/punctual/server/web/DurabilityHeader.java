package io.punctual.server.web;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.StoreListener;
import io.punctual.core.store.durability.Reached;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.http.server.ServletServerHttpResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

/**
 * Names in the answer to each change where the change was when it was answered; of several changes
 * the weakest. The store reports changes that a request makes on its own thread; controllers report
 * changes that share a call with other requests, by {@link #add}.
 */
@ControllerAdvice
public class DurabilityHeader implements ResponseBodyAdvice<Object>, StoreListener {

  private static final String NAME = "Punctual-Durability";
  private static final String ATTRIBUTE = DurabilityHeader.class.getName();

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
      response.getHeaders().set(NAME, weakest.toString());
    }
    return body;
  }
}
