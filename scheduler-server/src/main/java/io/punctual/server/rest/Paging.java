package io.punctual.server.rest;

import io.punctual.server.problem.ApiException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Lists come in pages, each with a cursor to the next one. */
final class Paging {

  private static final int DEFAULT = 100;

  private Paging() {}

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

  static Map<String, Object> page(List<?> items, @Nullable String next) {
    Map<String, Object> page = new LinkedHashMap<>();
    page.put("items", items);
    page.put("nextCursor", next);
    return page;
  }
}
