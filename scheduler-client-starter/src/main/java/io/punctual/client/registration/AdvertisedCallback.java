package io.punctual.client.registration;

import java.net.URI;

/** Where the registry says that this instance is called. */
@FunctionalInterface
public interface AdvertisedCallback {

  /** The address, as schedulers put it together of what the registry says. */
  URI address();
}
