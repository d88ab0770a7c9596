package io.punctual.spring;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * Task types of which no call is answered: one queue may be damaged while all others are well, and
 * must not hold them up. One call after a while shows whether that has changed. Not safe for use by
 * many threads.
 */
public final class Circuits {

  private record Open(int failures, long until) {}

  private final IntFunction<Duration> delay;
  private final Map<String, Open> open = new HashMap<>();

  /**
   * @param delay how long a type waits after so many failures one behind the other
   */
  public Circuits(IntFunction<Duration> delay) {
    this.delay = delay;
  }

  /** Returns the types that wait now. */
  public Set<String> open() {
    long now = System.nanoTime();
    Set<String> types = new HashSet<>();
    open.forEach(
        (type, circuit) -> {
          if (circuit.until() - now > 0) {
            types.add(type);
          }
        });
    return types;
  }

  /** Notes that a call was not answered; returns whether the one before it was. */
  public boolean failed(String type) {
    Open before = open.get(type);
    int failures = before == null ? 1 : before.failures() + 1;
    open.put(type, new Open(failures, System.nanoTime() + delay.apply(failures).toNanos()));
    return before == null;
  }

  /** Notes that a call was answered. */
  public void answered(String type) {
    open.remove(type);
  }
}
