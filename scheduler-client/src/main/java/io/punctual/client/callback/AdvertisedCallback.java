package io.punctual.client.callback;

import java.net.URI;

/** What the registry says of this instance. */
public interface AdvertisedCallback {

  /** Returns where it is called: the address, as schedulers put it together. */
  URI address();

  /** Returns the id of this instance. */
  String instance();
}
