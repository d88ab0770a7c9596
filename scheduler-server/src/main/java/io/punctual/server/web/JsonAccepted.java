package io.punctual.server.web;

import io.punctual.server.problem.Failures;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.HttpMediaTypeNotAcceptableException;
import org.springframework.web.accept.HeaderContentNegotiationStrategy;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Refuses a call whose {@code Accept} excludes JSON (406) before the call takes effect. Spring
 * refuses it only when it writes the answer.
 */
@Component
class JsonAccepted implements HandlerInterceptor, WebMvcConfigurer {

  private static final HeaderContentNegotiationStrategy ACCEPT =
      new HeaderContentNegotiationStrategy();

  @Override
  public void addInterceptors(InterceptorRegistry registry) {
    registry
        .addInterceptor(this)
        .addPathPatterns("/api/**")
        .excludePathPatterns("/api/v1/openapi.yaml");
  }

  @Override
  public boolean preHandle(
      HttpServletRequest request, HttpServletResponse response, Object handler) {
    if (handler instanceof HandlerMethod && !isAccepted(request)) {
      throw Failures.framework(406);
    }
    return true;
  }

  private static boolean isAccepted(HttpServletRequest request) {
    try {
      return ACCEPT.resolveMediaTypes(new ServletWebRequest(request)).stream()
          .anyMatch(MediaType.APPLICATION_JSON::isCompatibleWith);
    } catch (HttpMediaTypeNotAcceptableException e) {
      // The header cannot be read.
      return false;
    }
  }
}
