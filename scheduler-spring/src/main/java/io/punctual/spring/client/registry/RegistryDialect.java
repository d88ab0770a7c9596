package io.punctual.spring.client.registry;

import java.util.Map;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.serviceregistry.Registration;

/** The differences between clients of registries behind Spring Cloud's common types. */
public interface RegistryDialect {

  /**
   * Returns the metadata that will be registered; entries may be added before that.
   *
   * @throws UnsupportedOperationException if there are none; so does the map if it is fixed
   */
  Map<String, String> metadata(Registration registration);

  /** Returns a registered instance as the clients of schedulers show it. */
  ServiceInstance shown(Registration registration);

  /** Returns what to do if schedulers do not see the instance there, in whole sentences. */
  String remedy();
}
