package io.punctual.spring.client.registry;

import io.punctual.wire.RegistryAddresses;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.netflix.eureka.EurekaClientConfigBean;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/** Where Eureka's client looks for the registry. */
public final class EurekaAddresses {

  private static final String CLIENT =
      "org.springframework.cloud.netflix.eureka.EurekaClientConfigBean";

  private EurekaAddresses() {}

  /**
   * Returns the addresses, as configured or by default, without passwords; null where Eureka's
   * client is not used.
   */
  public static @Nullable String of(Environment environment) {
    if (!environment.getProperty("eureka.client.enabled", Boolean.class, true)
        || !ClassUtils.isPresent(CLIENT, null)) {
      return null;
    }
    String told = environment.getProperty("eureka.client.service-url.defaultZone");
    return RegistryAddresses.of(told == null ? EurekaClientConfigBean.DEFAULT_URL : told)
        .toString();
  }
}
