package io.punctual.core.store;

/** A mark in the store by which is seen that it lost something. */
public interface EpochMarker {

  /**
   * Reads the mark and moves it on; makes one where there is none.
   *
   * @throws StoreException if the store was not reached or refused
   */
  Epoch advance();
}
