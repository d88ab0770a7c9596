package io.punctual.spring.client;

import java.net.URI;
import java.util.List;

/** Where the properties say that schedulers are. */
record PropertiesConnectionDetails(PunctualClientProperties properties)
    implements PunctualConnectionDetails {

  @Override
  public List<URI> getUrls() {
    return properties.url();
  }
}
