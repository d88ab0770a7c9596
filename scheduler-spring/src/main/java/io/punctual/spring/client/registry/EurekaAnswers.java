package io.punctual.spring.client.registry;

import com.netflix.discovery.EurekaClient;
import org.springframework.beans.factory.ObjectProvider;

/** Of Eureka's client, which fetches for the first time before its views are published. */
public final class EurekaAnswers implements RegistryAnswers {

  private final ObjectProvider<EurekaClient> client;

  public EurekaAnswers(ObjectProvider<EurekaClient> client) {
    this.client = client;
  }

  @Override
  public boolean any() {
    EurekaClient eureka = client.getIfAvailable();
    // Each answer has a hash, if only an empty one; what the client begins with has none.
    return eureka != null && eureka.getApplications().getAppsHashCode() != null;
  }
}
