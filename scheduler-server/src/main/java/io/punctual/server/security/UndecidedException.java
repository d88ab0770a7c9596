package io.punctual.server.security;

import org.springframework.security.core.AuthenticationException;

/** Whether the credentials are right could not be found out: not the caller's fault. */
public final class UndecidedException extends AuthenticationException {

  private static final long serialVersionUID = 1L;

  UndecidedException(String message, Throwable cause) {
    super(message, cause);
  }
}
