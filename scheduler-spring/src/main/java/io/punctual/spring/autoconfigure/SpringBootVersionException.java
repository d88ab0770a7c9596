package io.punctual.spring.autoconfigure;

/** The application's Spring Boot is too old for Punctual's starters. */
final class SpringBootVersionException extends IllegalStateException {

  private static final long serialVersionUID = 1L;

  /**
   * @param version that of the application
   */
  SpringBootVersionException(String version) {
    super("Punctual needs Spring Boot 4; this application runs on Spring Boot " + version + ".");
  }
}
