package io.punctual.spring.client;

import java.net.http.HttpClient;

/**
 * Changes the HTTP client that calls schedulers: its proxy, executor or authenticator, for which
 * there are no properties. Beans of this type are called in their order, after the properties have
 * had their say.
 */
@FunctionalInterface
public interface SchedulerClientCustomizer {

  /** Changes the client that is about to be built. */
  void customize(HttpClient.Builder builder);
}
