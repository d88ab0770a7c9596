package io.punctual.spring.client.registry;

import com.alibaba.cloud.nacos.registry.NacosRegistration;
import java.util.Map;
import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.serviceregistry.Registration;

/** Adapts Nacos's client, whose registrations have no id: the server makes one. */
public final class NacosDialect implements RegistryDialect {

  private final CommonDialect common = new CommonDialect("nacos");

  @Override
  public Map<String, String> metadata(Registration registration) {
    return common.metadata(registration);
  }

  @Override
  public ServiceInstance shown(Registration registration) {
    if (!(registration instanceof NacosRegistration own)) {
      return registration;
    }
    String id =
        // Not %d: it has the digits of the JVM's locale.
        "%s#%s#%s#%s@@%s"
            .formatted(
                own.getHost(),
                own.getPort(),
                own.getCluster(),
                own.getNacosDiscoveryProperties().getGroup(),
                own.getServiceId());
    return new DefaultServiceInstance(
        id, own.getServiceId(), own.getHost(), own.getPort(), own.isSecure(), own.getMetadata());
  }

  @Override
  public String remedy() {
    return "spring.cloud.nacos.discovery.server-addr, namespace and group must be the same here and"
        + " at the schedulers. The schedulers need Nacos's client on their class path and"
        + " spring.cloud.nacos.discovery.enabled=true. Here"
        + " spring.cloud.nacos.discovery.register-enabled must not be false.";
  }
}
