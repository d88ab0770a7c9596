package io.punctual.server.operation;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The progress of an operation on many jobs, as its scheduler reported it last.
 *
 * @param action what is done to the jobs, in lower case
 * @param about the queues and tags, as far as a line holds them
 * @param searches the words that found the jobs, as they were typed
 * @param checked the jobs that were named one by one, as application/taskType/taskId; none where
 *     searches found them
 * @param unnamed how many searches or jobs are left out of these lists, which are bounded
 * @param when the new due time as it was typed; empty where there is none
 * @param operator who began it last
 * @param scheduler where it runs or ran
 * @param perSecond jobs a second; 0 for as fast as it goes
 * @param begun when it began last, as {@link java.time.Instant} writes it
 * @param ended when it ended last; null while it is under way
 * @param state in lower case; {@value #INTERRUPTED} if its scheduler ended before it
 * @param total how many jobs matched at the preview; null if there was none
 * @param more whether there may be more than {@code total}
 * @param outcomes the number of jobs by outcome
 * @param error why it failed, or what it left out; null if there is nothing to report
 * @param undoes the id of the operation whose cancels it undoes; null for none
 * @param seen when its scheduler said so, by Redis's clock, epoch ms
 */
public record OperationRecord(
    String id,
    String action,
    String about,
    List<String> searches,
    List<String> checked,
    int unnamed,
    String when,
    String operator,
    String scheduler,
    int perSecond,
    String begun,
    @Nullable String ended,
    String state,
    @Nullable Integer total,
    boolean more,
    Map<String, Integer> outcomes,
    @Nullable String error,
    @Nullable String undoes,
    long seen) {

  /** The state of an operation whose scheduler ended before it. */
  public static final String INTERRUPTED = "interrupted";

  private static final List<String> UNDER_WAY = List.of("waiting", "running");

  // Of searches and checked jobs together, and of an error.
  private static final int MAX_WORDS = 8_192;
  private static final int MAX_ERROR = 500;

  /**
   * Keeps what a record has room for.
   *
   * @throws RuntimeException if it lacks what pages need
   */
  public OperationRecord {
    Stream.of(id, action, about, when, operator, scheduler, state).forEach(Objects::requireNonNull);
    outcomes.values().forEach(Objects::requireNonNull);
    var unused = Instant.parse(begun);
    List<String> all = Stream.concat(searches.stream(), checked.stream()).toList();
    int fit = 0;
    for (int length = 0; fit < all.size(); fit++) {
      length += all.get(fit).length();
      if (length > MAX_WORDS) {
        break;
      }
    }
    unnamed += all.size() - fit;
    checked = List.copyOf(checked.subList(0, Math.max(0, fit - searches.size())));
    searches = List.copyOf(searches.subList(0, Math.min(fit, searches.size())));
    error = error == null ? null : error.substring(0, Math.min(MAX_ERROR, error.length()));
  }

  /** Returns whether no page is under way, nor will be one unless it is begun again. */
  public boolean over() {
    return !UNDER_WAY.contains(state);
  }

  /** Returns how many jobs were dealt with. */
  public int matched() {
    return outcomes.values().stream().mapToInt(Integer::intValue).sum();
  }

  /** Returns the only search, which finds the jobs again; null if there is none, or are several. */
  public @Nullable String search() {
    return searches.size() == 1 && checked.isEmpty() && unnamed == 0 ? searches.get(0) : null;
  }

  /**
   * Returns until when its cancels can be undone; null if it is under way, cancelled nothing, or
   * that time is over.
   *
   * @param time for how long cancelled jobs are kept
   */
  public @Nullable Instant undoableUntil(Instant now, Duration time) {
    if (!over() || !action.equals("cancel") || outcomes.getOrDefault("cancelled", 0) == 0) {
      return null;
    }
    Instant last = ended == null ? Instant.ofEpochMilli(seen) : Instant.parse(ended);
    Instant until = last.plus(time);
    return until.isAfter(now) ? until : null;
  }

  OperationRecord in(String next) {
    return new OperationRecord(
        id, action, about, searches, checked, unnamed, when, operator, scheduler, perSecond, begun,
        ended, next, total, more, outcomes, error, undoes, seen);
  }

  OperationRecord seenAt(long time) {
    return new OperationRecord(
        id, action, about, searches, checked, unnamed, when, operator, scheduler, perSecond, begun,
        ended, state, total, more, outcomes, error, undoes, time);
  }
}
