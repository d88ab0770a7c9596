package io.punctual.server.web;

import io.punctual.ErrorCode;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.TooManyFailuresException;
import io.punctual.server.security.UndecidedException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.oauth2.core.OAuth2AuthenticationException;
import org.springframework.security.web.AuthenticationEntryPoint;
import org.springframework.security.web.access.AccessDeniedHandler;
import org.springframework.stereotype.Component;

/** Answers refused callers with a problem document. */
@Component
class SecurityProblems implements AuthenticationEntryPoint, AccessDeniedHandler {

  @Override
  public void commence(
      HttpServletRequest request, HttpServletResponse response, AuthenticationException e)
      throws IOException {
    if (e instanceof TooManyFailuresException failures) {
      Problems.write(
          request,
          response,
          ApiException.tooMany(String.valueOf(e.getMessage()), Map.of(), failures.pause()));
    } else if (e instanceof UndecidedException) {
      Problems.write(
          request,
          response,
          ApiException.unavailable(
              e.getMessage()
                  + ", so that you cannot be authenticated: nothing was changed; try"
                  + " again later",
              Duration.ofSeconds(2)));
    } else {
      response.addHeader(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
      response.addHeader(
          HttpHeaders.WWW_AUTHENTICATE, "Basic realm=\"punctual\", charset=\"UTF-8\"");
      Problems.write(
          request, response, ApiException.of(ErrorCode.UNAUTHENTICATED, detail(request, e)));
    }
  }

  private static String detail(HttpServletRequest request, AuthenticationException e) {
    if (request.getHeader(HttpHeaders.AUTHORIZATION) == null) {
      return "this call needs credentials: an application's token (Authorization: Bearer ...), or"
          + " an operator's name and password";
    }
    return e instanceof OAuth2AuthenticationException
        ? "the token is unknown, expired or revoked"
        : "the credentials are wrong";
  }

  @Override
  public void handle(
      HttpServletRequest request, HttpServletResponse response, AccessDeniedException e)
      throws IOException {
    Problems.write(request, response, ApiException.of(ErrorCode.FORBIDDEN, "you may not do this"));
  }
}
