package io.punctual.spring.autoconfigure;

/** The application's Spring Boot is another than that of Punctual's starter. */
final class SpringBootVersionException extends IllegalStateException {

  private static final long serialVersionUID = 1L;

  /**
   * @param version that of the application
   */
  SpringBootVersionException(String version) {
    super(
        "This starter of Punctual is for %s; this application runs on Spring Boot %s."
            .formatted(SpringBootLine.NAME, version));
  }
}
