package io.punctual.client.registration;

import io.punctual.client.callback.AdvertisedCallback;
import org.jspecify.annotations.Nullable;

/**
 * Makes this instance known to schedulers, in a registry or at the schedulers themselves. It is
 * entered once the instance takes calls, and left before it stops.
 */
public interface InstanceRegistration {

  /** Makes the instance known. Returns at once. Nothing where a registry's own client does it. */
  default void enter() {}

  /** Has schedulers give this instance no more jobs. They follow within some seconds. */
  void leave();

  /** Returns what schedulers are told; null as long as that is not known. */
  @Nullable AdvertisedCallback advertised();

  /** Returns why schedulers may not know this instance; null if nothing is in the way. */
  default @Nullable String problem() {
    return null;
  }

  /** Says what to check where schedulers do not know this instance, in whole sentences. */
  String remedy();
}
