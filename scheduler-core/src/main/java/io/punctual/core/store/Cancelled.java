package io.punctual.core.store;

import io.punctual.CancelResult;
import org.jspecify.annotations.Nullable;

/**
 * What a cancel did.
 *
 * @param now the store's time, epoch ms
 * @param incarnation of the job that is gone now; null if none is
 */
public record Cancelled(CancelResult result, long now, @Nullable String incarnation) {}
