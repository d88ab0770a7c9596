package io.punctual.spring.client.registry;

import org.jspecify.annotations.Nullable;

/** A registry in which this instance keeps its entry, and registers again if it was lost. */
interface KeptRegistry {

  /** Returns why the registry may not show this instance, for people; null if it shows it. */
  @Nullable String problem();
}
