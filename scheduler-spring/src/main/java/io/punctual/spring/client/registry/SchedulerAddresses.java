package io.punctual.spring.client.registry;

import java.net.URI;
import java.util.Optional;
import org.springframework.cloud.client.ServiceInstance;

/** Base addresses in the form to which paths are added. */
final class SchedulerAddresses {

  private SchedulerAddresses() {}

  static URI withoutSlash(URI uri) {
    String text = uri.toString();
    return text.endsWith("/") ? URI.create(text.substring(0, text.length() - 1)) : uri;
  }

  /** Empty where the registry says something that is no address: the other schedulers are asked. */
  static Optional<URI> of(ServiceInstance instance) {
    try {
      URI uri = withoutSlash(instance.getUri());
      return uri.getHost() == null
              || uri.getRawUserInfo() != null
              || uri.getRawQuery() != null
              || uri.getRawFragment() != null
          ? Optional.empty()
          : Optional.of(uri);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
