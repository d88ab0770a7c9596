package io.punctual.server.registry;

/** A registry in which this scheduler keeps its entry. */
interface Kept {

  /** Returns the registry's name for people. */
  String registry();

  /** Removes the entry, which is not registered again. May wait as long as the registry does. */
  void leave() throws Exception;
}
