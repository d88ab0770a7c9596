package io.punctual.core.store;

import org.jspecify.annotations.Nullable;

/**
 * Whether a bucket is paused now.
 *
 * @param since epoch ms; null when it is not
 * @param newHead due time of its earliest job when it was paused before this call, else null
 */
public record Paused(@Nullable Long since, @Nullable Long newHead) {}
