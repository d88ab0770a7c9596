package io.punctual.core.store.query;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Part of the jobs that have a tag.
 *
 * @param jobs in the order of their ids; there may be fewer than asked for before the end
 * @param next the id behind which to go on; null at the end
 */
public record Tagged(List<JobView> jobs, @Nullable String next) {}
