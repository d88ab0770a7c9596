package io.punctual.spring;

import java.util.Locale;

/**
 * The application whose jobs are sent and run here.
 *
 * @param name in lower case
 */
public record JobApplication(String name) {

  /** Lowers its case. */
  public JobApplication {
    name = name.toLowerCase(Locale.ROOT);
  }
}
