package io.punctual.server.audit;

import io.punctual.server.problem.ApiException;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Lists the audit in pages, the newest entry first. */
@Component
public class AuditTrail {

  private static final Pattern PLACE = Pattern.compile("(\\d{1,15})\\.(\\d{1,6})");

  private final AuditLog audit;

  AuditTrail(AuditLog audit) {
    this.audit = audit;
  }

  /**
   * A page of the audit.
   *
   * @param next the cursor of the next page; null at the end
   */
  public record Page(List<AuditLog.Entry> entries, @Nullable String next) {}

  /**
   * Returns a page.
   *
   * @throws ApiException 400 for a cursor of another list
   */
  public Page list(@Nullable String cursor, int max) {
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
    return new Page(entries, entries.size() < max ? null : next(entries, until, skip));
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
