package io.punctual.core;

import io.punctual.core.store.durability.StoreLoss;
import io.punctual.core.store.durability.StoreNode;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of the store, as it was seen last.
 *
 * @param error why the store does not answer; null if it does
 * @param refuses whether the store answers but refuses requests, as when it is full or read-only;
 *     then there is an error
 * @param durability what changes must have reached before they are answered
 * @param nodes the servers; empty before the first look
 * @param findings what needs a fix
 * @param obstacles why the wanted durability cannot be kept; while there is one, changes are
 *     refused or their outcome is not known
 * @param begun when the store began, as far as its mark tells; null before the first look
 * @param mark what tells this store from others; null before the first look. Another one means that
 *     the store was emptied or is another one
 * @param losses what the store was seen to have lost and no operator has acknowledged, oldest first
 */
public record StoreHealth(
    @Nullable String error,
    boolean refuses,
    String durability,
    List<StoreNode> nodes,
    List<StoreNode.Finding> findings,
    List<String> obstacles,
    @Nullable Instant begun,
    @Nullable String mark,
    List<StoreLoss> losses) {

  /** Whether jobs were lost, or can be lost in the normal course of things, or nothing works. */
  public boolean isBad() {
    return error != null
        || !obstacles.isEmpty()
        || !losses.isEmpty()
        || findings.stream().anyMatch(StoreNode.Finding::unsafe);
  }
}
