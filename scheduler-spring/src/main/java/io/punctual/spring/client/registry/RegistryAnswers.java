package io.punctual.spring.client.registry;

/**
 * Whether a registry has answered its client since the start: an answer that shows no service looks
 * like none otherwise.
 */
@FunctionalInterface
public interface RegistryAnswers {

  /** Returns whether there was an answer. */
  boolean any();
}
