package io.punctual.server.api;

import io.punctual.ErrorCode;
import io.punctual.core.ClaimToken;
import io.punctual.core.job.QueueName;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Caller;
import io.punctual.server.web.ApiException;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Holds callers to what is {@link Allowed}, and applications to their own jobs: what the address
 * says is looked at here, what the body says where it is read ({@link #application}).
 */
@Component
class AccessRules implements HandlerInterceptor, WebMvcConfigurer {

  @Override
  public void addInterceptors(InterceptorRegistry registry) {
    registry
        .addInterceptor(this)
        .addPathPatterns("/api/**", "/console", "/console/**")
        .excludePathPatterns("/api/v1/openapi.yaml", "/console/login", "/console/assets/**");
  }

  @Override
  public boolean preHandle(
      HttpServletRequest request, HttpServletResponse response, Object handler) {
    // What was begun may go on: the answer to somebody who waited for jobs.
    if (handler instanceof HandlerMethod method
        && request.getDispatcherType() != DispatcherType.ASYNC) {
      check(method, Caller.current());
      if (request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE)
          instanceof Map<?, ?> variables) {
        own(variables.get("application"));
        ownClaim(variables.get("token"));
      }
      own(request.getParameter("application"));
    }
    return true;
  }

  private static void check(HandlerMethod method, Caller caller) {
    Allowed allowed = method.getMethodAnnotation(Allowed.class);
    if (allowed == null) {
      throw ApiException.of(ErrorCode.FORBIDDEN, "nobody may do this");
    }
    if (caller.application() != null) {
      if (!allowed.applications()) {
        throw ApiException.of(
            ErrorCode.FORBIDDEN,
            "this is for operators; the token is that of the application " + caller.application());
      }
    } else if (!caller.is(allowed.value())) {
      throw ApiException.of(
          ErrorCode.FORBIDDEN,
          "this needs the role " + allowed.value().name().toLowerCase(Locale.ROOT) + " or higher");
    }
  }

  private static void ownClaim(@Nullable Object token) {
    if (token != null) {
      try {
        own(ClaimToken.parse(token.toString()).queue().application());
      } catch (IllegalArgumentException e) {
        // The call itself says what is wrong with it.
        return;
      }
    }
  }

  private static void own(@Nullable Object application) {
    if (application != null) {
      requireOwn(application.toString());
    }
  }

  /**
   * Refuses an application that asks for another one's jobs.
   *
   * @throws ApiException 403
   */
  static void requireOwn(String application) {
    Caller caller = Caller.current();
    if (!caller.mayTouch(application.toLowerCase(Locale.ROOT))) {
      throw ApiException.of(
          ErrorCode.FORBIDDEN,
          "the token is that of the application " + caller.application() + ", not of another one");
    }
  }

  /**
   * The application that a call is about.
   *
   * @param given what the call says; null means the caller's own
   * @return null if neither says
   * @throws ApiException 403 if it is not the caller's
   */
  static @Nullable String application(@Nullable String given) {
    if (given == null) {
      return Caller.current().application();
    }
    requireOwn(given);
    return given;
  }

  /** Whether the caller may see a queue. */
  static boolean sees(QueueName queue) {
    return Caller.current().mayTouch(queue.application());
  }
}
