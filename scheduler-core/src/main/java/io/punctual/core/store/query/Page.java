package io.punctual.core.store.query;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Part of a list.
 *
 * @param next where to go on; null at the end
 */
public record Page(List<JobView> jobs, @Nullable Cursor next) {}
