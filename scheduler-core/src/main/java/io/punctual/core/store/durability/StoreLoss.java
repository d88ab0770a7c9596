package io.punctual.core.store.durability;

import java.time.Instant;

/**
 * The store came back with less than it had.
 *
 * @param at when it was noticed, by the store's clock
 * @param text what was seen
 */
public record StoreLoss(Instant at, String text) {}
