package io.punctual.spring.client.registry;

import io.punctual.wire.RegistryAddresses;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.netflix.eureka.EurekaClientConfigBean;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * The address of the registry in which this application looks for schedulers.
 *
 * @param shown its addresses, as configured or by default, without passwords; null if they are not
 *     known
 * @param setting the property that has them
 * @param switched the property that switches its client on
 * @param host the property of a scheduler that has the address at which others find it
 */
public record RegistryAddress(
    @Nullable String shown, String setting, String switched, String host) {

  private static final String EUREKA =
      "org.springframework.cloud.netflix.eureka.EurekaClientConfigBean";
  private static final String ZOOKEEPER =
      "org.springframework.cloud.zookeeper.discovery.ZookeeperDiscoveryProperties";

  private static final String CONSUL =
      "org.springframework.cloud.consul.discovery.ConsulDiscoveryProperties";

  private static final String NACOS = "com.alibaba.cloud.nacos.NacosDiscoveryProperties";

  /** Returns the address of the first registry in use: Eureka, ZooKeeper, Consul, then Nacos. */
  public static RegistryAddress of(Environment environment) {
    boolean eureka = isUsed(environment, "eureka.client.enabled", EUREKA);
    if (!eureka && isUsed(environment, "spring.cloud.zookeeper.enabled", ZOOKEEPER)) {
      return new RegistryAddress(
          environment.getProperty("spring.cloud.zookeeper.connect-string", "localhost:2181"),
          "spring.cloud.zookeeper.connect-string",
          "spring.cloud.zookeeper.enabled",
          "spring.cloud.zookeeper.discovery.instance-host");
    }
    if (!eureka && isUsed(environment, "spring.cloud.consul.enabled", CONSUL)) {
      return new RegistryAddress(
          "%s://%s:%s"
              .formatted(
                  environment.getProperty("spring.cloud.consul.scheme", "http"),
                  environment.getProperty("spring.cloud.consul.host", "localhost"),
                  environment.getProperty("spring.cloud.consul.port", "8500")),
          "spring.cloud.consul.host",
          "spring.cloud.consul.enabled",
          "spring.cloud.consul.discovery.hostname");
    }
    if (!eureka && isUsed(environment, "spring.cloud.nacos.discovery.enabled", NACOS)) {
      // As its client does: the general address counts where there is no own one.
      String general = environment.getProperty("spring.cloud.nacos.server-addr", "127.0.0.1:8848");
      String address = environment.getProperty("spring.cloud.nacos.discovery.server-addr", general);
      String shown = address.isBlank() ? general : address;
      return new RegistryAddress(
          shown.split(",", -1)[0].contains(":") ? shown : shown.split(",", -1)[0] + ":8848",
          "spring.cloud.nacos.discovery.server-addr",
          "spring.cloud.nacos.discovery.enabled",
          "spring.cloud.nacos.discovery.ip");
    }
    String shown = null;
    if (eureka) {
      String told = environment.getProperty("eureka.client.service-url.defaultZone");
      shown =
          RegistryAddresses.of(told == null ? EurekaClientConfigBean.DEFAULT_URL : told).toString();
    }
    // Of another registry nothing is known.
    boolean known = ClassUtils.isPresent(EUREKA, null);
    return new RegistryAddress(
        shown,
        known ? "eureka.client.service-url.defaultZone" : "the registry's address in its client",
        "eureka.client.enabled",
        known ? "eureka.instance.hostname" : "the address that the registry shows");
  }

  private static boolean isUsed(Environment environment, String property, String client) {
    return environment.getProperty(property, Boolean.class, true)
        && ClassUtils.isPresent(client, null);
  }
}
