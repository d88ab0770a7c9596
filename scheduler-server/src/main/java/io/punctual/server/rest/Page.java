package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.server.problem.ApiException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of a list.
 *
 * @param nextCursor where the next page begins; null at the end
 * @param damaged task types or schedules that could not be read; absent if there are none
 */
record Page<T>(
    List<T> items,
    @Nullable String nextCursor,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> damaged) {

  private static final int DEFAULT = 100;

  Page(List<T> items, @Nullable String nextCursor) {
    this(items, nextCursor, List.of());
  }

  static int limit(@Nullable String limit, int max) {
    return limit == null ? DEFAULT : limit(limit, "limit", max);
  }

  /** A number from 1 to {@code max} of the parameter of that name. */
  static int limit(String limit, String name, int max) {
    if (!limit.matches("\\d{1,4}")
        || Integer.parseInt(limit) < 1
        || Integer.parseInt(limit) > max) {
      throw ApiException.invalid(name, "must be between 1 and " + max);
    }
    return Integer.parseInt(limit);
  }
}
