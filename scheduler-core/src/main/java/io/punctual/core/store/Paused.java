package io.punctual.core.store;

import org.jspecify.annotations.Nullable;

/**
 * The result of a pause: whether the bucket has this pause now.
 *
 * @param since epoch ms; null when it is not
 * @param newHead due time of its earliest job if it had that pause before this call and may have to
 *     be looked at, else null
 */
public record Paused(@Nullable Long since, @Nullable Long newHead) {}
