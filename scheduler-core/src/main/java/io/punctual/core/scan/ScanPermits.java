package io.punctual.core.scan;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * Bounds how many scanners look at the same time, for each node of the store: thousands that wake
 * together, at the start or after an outage, must not take all connections from the others, and a
 * node that hangs must not keep scanners from the other nodes.
 */
public final class ScanPermits {

  static final int AT_ONCE = 16;

  private final Map<String, Semaphore> nodes = new ConcurrentHashMap<>();

  /**
   * Waits until a look at a node may begin.
   *
   * @return to be released when the look is over
   */
  Semaphore begin(String node) {
    Semaphore looks = nodes.computeIfAbsent(node, name -> new Semaphore(AT_ONCE));
    looks.acquireUninterruptibly();
    return looks;
  }

  /** Returns how many looks are under way. For tests. */
  public int inUse() {
    return nodes.values().stream().mapToInt(looks -> AT_ONCE - looks.availablePermits()).sum();
  }
}
