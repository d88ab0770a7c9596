package io.punctual.spring.autoconfigure;

/** The line of Spring Boot for which this module is made. */
final class SpringBootLine {

  static final String NAME = "Spring Boot 3.5";
  static final String REMEDY =
      "With Spring Boot 4, use scheduler-client-starter. With an older one, upgrade the application"
          + " to Spring Boot 3.5.";

  private static final int MAJOR = 3;
  private static final int MINOR = 5;

  private SpringBootLine() {}

  /** Returns whether a version belongs to it. */
  static boolean includes(int major, int minor) {
    return major == MAJOR && minor >= MINOR;
  }
}
