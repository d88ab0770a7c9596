package io.punctual.spring.client;

import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * The addresses of schedulers, and this application's identity there. A bean of this type replaces
 * {@code punctual.url}. Spring Boot creates one for a scheduler in a container, by Docker Compose
 * or {@code @ServiceConnection}.
 */
public interface PunctualConnectionDetails extends ConnectionDetails {

  /**
   * Base addresses of schedulers, such as {@code http://localhost:8080}.
   *
   * @return none where the registry is to be asked
   */
  List<URI> getUrls();

  /**
   * The token of this application, as the scheduler's command {@code credentials} prints it.
   *
   * @return null where {@code punctual.token} counts
   */
  default @Nullable String getToken() {
    return null;
  }
}
