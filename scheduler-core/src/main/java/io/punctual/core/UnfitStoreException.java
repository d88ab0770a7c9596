package io.punctual.core;

/** The store cannot keep the durability that is wanted, so that the engine does not start. */
public final class UnfitStoreException extends IllegalStateException {

  private static final long serialVersionUID = 1L;

  public UnfitStoreException(String message) {
    super(message);
  }
}
