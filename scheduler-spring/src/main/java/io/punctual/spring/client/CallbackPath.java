package io.punctual.spring.client;

import org.springframework.core.env.Environment;

/** The whole path of the callback as a caller must write it. */
final class CallbackPath {

  private CallbackPath() {}

  static String ofReactive(Environment environment, String path) {
    return part(environment.getProperty("spring.webflux.base-path", "")) + path;
  }

  static String ofServlet(Environment environment, String path) {
    return part(environment.getProperty("server.servlet.context-path", ""))
        + part(environment.getProperty("spring.mvc.servlet.path", ""))
        + path;
  }

  private static String part(String path) {
    String stripped = path.strip();
    while (stripped.endsWith("/")) {
      stripped = stripped.substring(0, stripped.length() - 1);
    }
    return stripped.isEmpty() || stripped.startsWith("/") ? stripped : "/" + stripped;
  }
}
