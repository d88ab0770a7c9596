package io.punctual.spring.client.registry;

import java.util.Map;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.serviceregistry.Registration;

/** Consul's client: a registration has the metadata that it registers. */
public final class ConsulDialect implements RegistryDialect {

  private final CommonDialect common = new CommonDialect("consul");

  @Override
  public Map<String, String> metadata(Registration registration) {
    return common.metadata(registration);
  }

  @Override
  public ServiceInstance shown(Registration registration) {
    return registration;
  }

  @Override
  public String remedy() {
    return "spring.cloud.consul.host must be an agent of the same Consul here and at the schedulers."
        + " The schedulers need spring.cloud.consul.enabled=true. Here"
        + " spring.cloud.consul.discovery.register must not be false, and Consul must show the"
        + " instance as passing (spring.cloud.consul.discovery.heartbeat.enabled=true).";
  }
}
