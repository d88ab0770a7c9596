package io.punctual.core.store;

/** Is told how long scripts take, the way to the store and back included. */
@FunctionalInterface
public interface ScriptListener {

  /** Nobody listens. */
  ScriptListener NONE = (script, nanos, answered) -> {};

  /**
   * A script was called. Must not block or throw.
   *
   * @param script its name, one of a few
   * @param answered whether it did what it was asked for
   */
  void ran(String script, long nanos, boolean answered);
}
