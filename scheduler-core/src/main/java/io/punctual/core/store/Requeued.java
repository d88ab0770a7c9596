package io.punctual.core.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a requeue did.
 *
 * @param taskIds the jobs that wait again
 * @param newHead the due time when one of them became the earliest of the bucket, else null
 */
public record Requeued(List<String> taskIds, @Nullable Long newHead) {}
