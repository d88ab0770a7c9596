package io.punctual.server.security;

import org.springframework.security.core.AuthenticationException;

/** Thrown if the scheduler could not check the credentials. This is not the caller's fault. */
public final class UndecidedException extends AuthenticationException {

  private static final long serialVersionUID = 1L;

  UndecidedException(String message, Throwable cause) {
    super(message, cause);
  }
}
