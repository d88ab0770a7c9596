package io.punctual.core.engine;

/** The store cannot keep the durability that is wanted, so that the engine does not start. */
public final class UnfitStoreException extends IllegalStateException {

  private static final long serialVersionUID = 1L;

  UnfitStoreException(String message) {
    super(message);
  }
}
