package io.punctual.server.dispatch.callback;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The instance answered, and the answer makes no sense or passes a bound. */
final class BadAnswerException extends IOException {

  private static final long serialVersionUID = 1L;

  BadAnswerException(String message) {
    this(message, null);
  }

  BadAnswerException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
