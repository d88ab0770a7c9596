package io.punctual.spring.client;

import io.punctual.spring.autoconfigure.PunctualProperties;
import java.net.URI;
import java.util.List;

/** Where the properties say that schedulers are. */
record PropertiesConnectionDetails(PunctualProperties properties)
    implements PunctualConnectionDetails {

  @Override
  public List<URI> getUrls() {
    return properties.schedulers();
  }
}
