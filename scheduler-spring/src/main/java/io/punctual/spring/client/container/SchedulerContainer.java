package io.punctual.spring.client.container;

import java.net.URI;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is known of a scheduler in a container. */
final class SchedulerContainer {

  /** By this name of its image a container is known, or by the same as name of the connection. */
  static final String NAME = "punctual/scheduler-server";

  /** Where a scheduler listens inside of its container. */
  static final int PORT = 8080;

  /** A variable of the container's environment: the token of the application that connects. */
  static final String TOKEN = "PUNCTUAL_TOKEN";

  private SchedulerContainer() {}

  static List<URI> urls(String host, int port) {
    String written = host.contains(":") ? "[" + host + "]" : host;
    return List.of(URI.create("http://" + written + ":" + port));
  }

  /** Null where the container says nothing of it. */
  static @Nullable String token(Map<String, ? extends @Nullable String> environment) {
    String token = environment.get(TOKEN);
    return token == null || token.isBlank() ? null : token;
  }
}
