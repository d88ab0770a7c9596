package io.punctual.client.registration;

import io.punctual.client.callback.AdvertisedCallback;
import org.jspecify.annotations.Nullable;

/**
 * Makes this instance known to schedulers, in a registry or at the schedulers themselves. Register
 * once the instance accepts calls, and deregister before it stops.
 */
public interface InstanceRegistration {

  /** Starts to register. Returns at once. Does nothing if a registry's own client registers. */
  default void register() {}

  /**
   * Tells schedulers the task types of this instance, which have changed. Returns at once. Does
   * nothing while the instance is not registered.
   */
  default void update() {}

  /** Deregisters: schedulers give this instance no more jobs, within some seconds. */
  void deregister();

  /** Returns what schedulers are told; null until that is known. */
  @Nullable AdvertisedCallback advertised();

  /**
   * Returns why schedulers may not know this instance, for people, without a period at the end;
   * null if no error is known.
   */
  default @Nullable String error() {
    return null;
  }

  /** Returns what to do if schedulers do not know this instance, in whole sentences. */
  String remedy();
}
