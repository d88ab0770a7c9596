package io.punctual.spring.client.registry;

import io.punctual.wire.WorkerMetadata;
import java.util.Map;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.serviceregistry.Registration;

/**
 * A client whose registration itself has the metadata that will be registered, and the id and the
 * address that others see.
 *
 * @param registry the name of the registry
 */
public record CommonDialect(String registry) implements RegistryDialect {

  @Override
  public Map<String, String> metadata(Registration registration) {
    Map<String, String> metadata = registration.getMetadata();
    if (metadata == null) {
      throw new UnsupportedOperationException("The registration has no metadata.");
    }
    return metadata;
  }

  @Override
  public ServiceInstance shown(Registration registration) {
    return registration;
  }

  @Override
  public String remedy() {
    return "The schedulers must read the same registry (%s), and this instance must be in it with %s in its metadata. Or set punctual.registration=scheduler: the instance registers at the schedulers."
        .formatted(registry, WorkerMetadata.CALLBACK);
  }
}
