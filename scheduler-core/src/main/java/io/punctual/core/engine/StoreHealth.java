package io.punctual.core.engine;

import io.punctual.core.store.StoreNode;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the jobs stand on, as it was seen last.
 *
 * @param error why the store does not answer; null if it does
 * @param durability what changes must have reached before they are answered
 * @param nodes the servers; empty before the first look
 * @param findings what ought to be mended
 * @param obstacles why the wanted durability cannot be kept; while there is one, changes are
 *     refused or their outcome is not known
 * @param losses what the store was seen to have lost since this engine began, oldest first
 * @param restored how many jobs this engine has put back
 */
public record StoreHealth(
    @Nullable String error,
    String durability,
    List<StoreNode> nodes,
    List<StoreNode.Finding> findings,
    List<String> obstacles,
    List<Loss> losses,
    long restored) {

  /**
   * The store came back with less than it had.
   *
   * @param at when it was noticed, by the store's clock
   * @param text what was seen
   */
  public record Loss(Instant at, String text) {}

  /** Whether jobs were lost, or can be lost in the normal course of things, or nothing works. */
  public boolean isBad() {
    return error != null
        || !obstacles.isEmpty()
        || !losses.isEmpty()
        || findings.stream().anyMatch(StoreNode.Finding::unsafe);
  }
}
