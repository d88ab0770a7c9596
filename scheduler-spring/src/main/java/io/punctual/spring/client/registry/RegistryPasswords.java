package io.punctual.spring.client.registry;

import io.punctual.wire.RegistryAddresses;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.cloud.netflix.eureka.EurekaClientConfigBean;
import org.springframework.cloud.netflix.eureka.http.EurekaClientHttpRequestFactorySupplier;
import org.springframework.http.client.ClientHttpRequest;
import org.springframework.http.client.ClientHttpRequestFactory;

/**
 * Takes the registry's password out of the addresses that the Eureka client logs, and sends it as a
 * header. A Eureka client that uses Jersey or WebClient keeps its addresses.
 */
public final class RegistryPasswords implements BeanPostProcessor {

  private final ListableBeanFactory beans;
  private volatile RegistryAddresses addresses = RegistryAddresses.of("");

  public RegistryPasswords(ListableBeanFactory beans) {
    this.beans = beans;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    if (bean instanceof EurekaClientConfigBean config && usesRequests()) {
      take(config);
    } else if (bean instanceof EurekaClientHttpRequestFactorySupplier supplier) {
      return (EurekaClientHttpRequestFactorySupplier)
          (context, verifier) -> withPassword(supplier.get(context, verifier));
    }
    return bean;
  }

  /** Spring's RestClient and RestTemplate do. */
  private boolean usesRequests() {
    Class<?> requests = EurekaClientHttpRequestFactorySupplier.class;
    return beans.getBeanNamesForType(requests, false, false).length > 0;
  }

  // Again when Spring Cloud has bound the settings anew.
  private void take(EurekaClientConfigBean config) {
    Map<String, String> zones = new LinkedHashMap<>();
    config
        .getServiceUrl()
        .forEach((zone, urls) -> zones.put(zone, RegistryAddresses.of(urls).toString()));
    addresses =
        RegistryAddresses.of(
            config.getServiceUrl().values().stream().collect(Collectors.joining(",")));
    config.setServiceUrl(zones);
  }

  private ClientHttpRequestFactory withPassword(ClientHttpRequestFactory requests) {
    return (uri, method) -> {
      ClientHttpRequest request = requests.createRequest(uri, method);
      addresses
          .authorization(uri)
          .ifPresent(authorization -> request.getHeaders().set("Authorization", authorization));
      return request;
    };
  }
}
