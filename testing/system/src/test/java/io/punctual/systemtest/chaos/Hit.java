package io.punctual.systemtest.chaos;

import io.punctual.systemtest.Execution;
import java.util.function.Predicate;

/**
 * What a fault hit.
 *
 * @param whom for people: a process, as its log is named, or what stands for all
 * @param runs which runs were in its hands
 */
record Hit(String whom, Predicate<Execution> runs) implements Predicate<Execution> {

  @Override
  public boolean test(Execution run) {
    return runs.test(run);
  }

  @Override
  public String toString() {
    return whom;
  }
}
