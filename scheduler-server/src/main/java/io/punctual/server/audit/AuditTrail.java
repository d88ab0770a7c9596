package io.punctual.server.audit;

import io.punctual.server.problem.ApiException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Lists the audit in pages, the newest entry first. */
@Component
public class AuditTrail {

  private static final int CHUNK = 500;
  private static final int MOST_LOOKED = 10_000;
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
   * Which entries are listed.
   *
   * @param operator a part of the operator's name, whatever the case; null for any
   * @param action a part of what was done; null for any
   * @param target a part of what it was done to; null for any
   * @param from epoch ms of the oldest; null for no bound
   * @param until epoch ms of the newest; null for no bound
   */
  public record Search(
      @Nullable String operator,
      @Nullable String action,
      @Nullable String target,
      @Nullable Long from,
      @Nullable Long until) {

    private boolean matches(AuditLog.Entry entry) {
      return isIn(operator, entry.operator())
          && isIn(action, entry.action())
          && isIn(target, entry.target());
    }

    private static boolean isIn(@Nullable String part, String whole) {
      return part == null
          || whole.toLowerCase(Locale.ROOT).contains(part.strip().toLowerCase(Locale.ROOT));
    }
  }

  /**
   * Returns a page. Where few entries match, it may have fewer than asked for though there are
   * more: it looks at {@value #MOST_LOOKED} at most.
   *
   * @throws ApiException 400 for a cursor of another list
   */
  public Page list(Search search, @Nullable String cursor, int max) {
    Long until = search.until();
    int skip = 0;
    if (cursor != null) {
      Matcher place = PLACE.matcher(cursor);
      if (!place.matches()) {
        throw ApiException.invalid("cursor", "is none of this list: take nextCursor of an answer");
      }
      until = Long.valueOf(place.group(1));
      skip = Integer.parseInt(place.group(2));
    }
    Long from = search.from();
    List<AuditLog.Entry> found = new ArrayList<>();
    for (int looked = 0; looked < MOST_LOOKED; looked += CHUNK) {
      List<AuditLog.Entry> some = audit.newest(until, skip, CHUNK);
      for (AuditLog.Entry entry : some) {
        long at = Instant.parse(entry.at()).toEpochMilli();
        if (from != null && at < from) {
          return new Page(found, null);
        }
        // Several may be of the same millisecond: so many of it were looked at.
        skip = until != null && until == at ? skip + 1 : 1;
        until = at;
        if (search.matches(entry)) {
          found.add(entry);
        }
        if (found.size() == max) {
          return new Page(found, until + "." + skip);
        }
      }
      if (some.size() < CHUNK) {
        return new Page(found, null);
      }
    }
    return new Page(found, until + "." + skip);
  }
}
