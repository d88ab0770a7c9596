package io.punctual.server.web;

import io.punctual.ErrorCode;
import io.punctual.core.ClaimToken;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Caller;
import io.punctual.server.security.Ownership;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.HttpMediaTypeNotAcceptableException;
import org.springframework.web.accept.HeaderContentNegotiationStrategy;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Enforces {@link Allowed}, the caller's share of calls, and confines applications to their own
 * jobs. Path and query are checked here, body fields where they are parsed ({@link
 * Ownership#application}). Refuses as well a call of the API whose {@code Accept} excludes JSON
 * (406) before it takes effect: Spring refuses it only when it writes the answer.
 */
@Component
class AccessRules implements HandlerInterceptor, WebMvcConfigurer {

  private static final HeaderContentNegotiationStrategy ACCEPT =
      new HeaderContentNegotiationStrategy();

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
    // The call was allowed when it began: this is the answer to a long poll.
    if (handler instanceof HandlerMethod method
        && request.getDispatcherType() != DispatcherType.ASYNC) {
      RequestLimits.admit(request, response);
      check(method, Caller.current());
      if (request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE)
          instanceof Map<?, ?> variables) {
        own(variables.get("application"));
        ownClaim(variables.get("token"));
      }
      own(request.getParameter("application"));
      if (ServedPath.isBelow(request, "/api") && !isJsonAccepted(request)) {
        throw Failures.framework(406);
      }
    }
    return true;
  }

  private static boolean isJsonAccepted(HttpServletRequest request) {
    try {
      return ACCEPT.resolveMediaTypes(new ServletWebRequest(request)).stream()
          .anyMatch(MediaType.APPLICATION_JSON::isCompatibleWith);
    } catch (HttpMediaTypeNotAcceptableException e) {
      // The header cannot be read.
      return false;
    }
  }

  private static void check(HandlerMethod method, Caller caller) {
    Allowed allowed = method.getMethodAnnotation(Allowed.class);
    if (allowed == null) {
      throw ApiException.of(ErrorCode.FORBIDDEN, "no caller may do this");
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
      Ownership.require(application.toString());
    }
  }
}
