package io.punctual.spring.autoconfigure;

/** The line of Spring Boot for which this module is made. */
final class SpringBootLine {

  static final String NAME = "Spring Boot 4";
  static final String REMEDY =
      "With Spring Boot 3.5, use scheduler-client-starter-boot3. Plugin mode needs Spring Boot 4."
          + " Upgrade an older application to Spring Boot 3.5 or 4.";

  private static final int MAJOR = 4;

  private SpringBootLine() {}

  /** Returns whether a version belongs to it, or may do so when it is released. */
  static boolean includes(int major, int minor) {
    return major >= MAJOR;
  }
}
