package io.punctual.core.work;

import io.punctual.core.store.StoreException;

/** The errors for callers when the engine no longer passes a call to the store. */
public final class Refusals {

  private Refusals() {}

  /** The engine was closed. */
  public static StoreException closed() {
    return new StoreException(
        StoreException.Kind.REFUSED,
        "this scheduler is shutting down; nothing was stored, submit to another one");
  }

  /** An earlier call had no answer, and this one would wait as long. */
  public static StoreException behind() {
    return new StoreException(
        StoreException.Kind.REFUSED,
        "the store did not answer those before; nothing was stored, try again later");
  }
}
