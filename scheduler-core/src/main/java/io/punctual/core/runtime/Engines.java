package io.punctual.core.runtime;

import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.store.Store;

/** Makes engines. */
public final class Engines {

  private Engines() {}

  /** Makes an engine; nothing runs before {@link Engine#start}. */
  public static Engine create(Store store, EngineOptions options, Dispatcher dispatcher) {
    return new ScanningEngine(store, options, dispatcher, null);
  }
}
