package io.punctual.server.security;

import java.time.Duration;
import org.springframework.security.core.AuthenticationException;

/** Somebody guesses passwords, or very many log in at once. */
public final class TooManyFailuresException extends AuthenticationException {

  private static final long serialVersionUID = 1L;

  private final Duration pause;

  TooManyFailuresException(Duration pause) {
    super("too many logins have failed");
    this.pause = pause;
  }

  /** How long to wait. */
  public Duration pause() {
    return pause;
  }
}
