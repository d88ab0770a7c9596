package io.punctual.server.api;

import io.punctual.server.security.Allowed;
import io.punctual.server.security.AuditLog;
import io.punctual.server.security.Role;
import io.punctual.server.web.ApiException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Who did what. */
@RestController
class AuditController {

  private static final int MAX_PAGE = 500;
  private static final Pattern PLACE = Pattern.compile("(\\d{1,15})\\.(\\d{1,6})");

  private final AuditLog audit;

  AuditController(AuditLog audit) {
    this.audit = audit;
  }

  /** The newest first. */
  @Allowed(Role.OPERATOR)
  @GetMapping("/api/v1/audit")
  Map<String, Object> list(
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(required = false) @Nullable String limit) {
    int max = Paging.limit(limit, MAX_PAGE);
    Long until = null;
    int skip = 0;
    if (cursor != null) {
      Matcher place = PLACE.matcher(cursor);
      if (!place.matches()) {
        throw ApiException.invalid("cursor", "is none of this list: take nextCursor of an answer");
      }
      until = Long.valueOf(place.group(1));
      skip = Integer.parseInt(place.group(2));
    }
    List<AuditLog.Entry> entries = audit.newest(until, skip, max);
    return Paging.page(entries, entries.size() < max ? null : next(entries, until, skip));
  }

  // Several may be of the same millisecond: so many of it were shown.
  private static String next(List<AuditLog.Entry> entries, @Nullable Long until, int skip) {
    long last = millis(entries.get(entries.size() - 1));
    long shown = entries.stream().filter(entry -> millis(entry) == last).count();
    boolean same = until != null && until == last;
    return last + "." + (same ? skip + shown : shown);
  }

  private static long millis(AuditLog.Entry entry) {
    return Instant.parse(entry.at()).toEpochMilli();
  }
}
