package io.punctual.server.probe;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** The severity of a finding, the best first. */
public enum Status {
  /** As it should be. */
  OK,
  /** Works, and ought to be looked at. */
  WARNING,
  /** Does not work, or may lose jobs. */
  PROBLEM;

  /** As the API writes it. */
  @JsonValue
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
