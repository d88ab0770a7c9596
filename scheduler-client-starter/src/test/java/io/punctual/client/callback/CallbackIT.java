package io.punctual.client.callback;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

/**
 * The callback in an application that does what real ones do: a context path, advice that wraps
 * every answer, required API versions, and Spring Security as it comes.
 */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    classes = CallbackContract.Shop.class,
    properties = {
      CallbackContract.NAME,
      CallbackContract.NO_EUREKA,
      CallbackContract.UNSIGNED,
      "server.servlet.context-path=/ctx",
      "spring.mvc.apiversion.required=true",
      "spring.mvc.apiversion.use.header=X-Version"
    })
class CallbackIT extends CallbackContract {

  @TestConfiguration
  static class Mvc {

    /** What a whole class of applications does to every answer. */
    @RestControllerAdvice
    static class Wrap implements ResponseBodyAdvice<Object> {
      @Override
      public boolean supports(
          MethodParameter type, Class<? extends HttpMessageConverter<?>> converter) {
        return true;
      }

      @Override
      public Object beforeBodyWrite(
          @Nullable Object body,
          MethodParameter type,
          MediaType mediaType,
          Class<? extends HttpMessageConverter<?>> converter,
          ServerHttpRequest request,
          ServerHttpResponse response) {
        return "{\"code\":0,\"data\":" + body + "}";
      }
    }
  }
}
