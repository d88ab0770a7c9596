package io.punctual.server.security;

import java.time.Duration;
import org.springframework.security.core.AuthenticationException;

/** Refuses a login: too many failed before, or too many wait at once. */
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
