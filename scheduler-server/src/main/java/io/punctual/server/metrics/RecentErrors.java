package io.punctual.server.metrics;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Keeps the last errors of each queue that this scheduler saw, at most 100 of the last 15 minutes,
 * and says which of them is the most frequent one.
 */
@Component
public class RecentErrors {

  /** How many characters of an error are kept and compared. */
  public static final int MAX_TEXT = 160;

  /** The end of an error that is cut. */
  public static final String CUT = "…";

  private static final int QUEUES = 500;
  private static final int KEPT = 100;
  private static final Duration AGE = Duration.ofMinutes(15);
  private static final Pattern VARYING =
      Pattern.compile(
          "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\\b[0-9a-fA-F]{12,}\\b|\\d+");

  // What a worker that gets one job a call has answered. The address is that of one instance.
  private static final Pattern ANSWER = Pattern.compile("^(HTTP \\d{3}) from \\S+: (?=\\S)");

  // A stack trace in a single line: only a frame names a file. Possessive: a worker writes it, and
  // a loop that goes back would use the stack.
  private static final Pattern STACK =
      Pattern.compile(
          "(?<=\\S) +at (?:[\\w$@-]++[./]++)++[\\w$<>]+"
              + "\\((?:[^():]*\\.\\w+(?::\\d+)?|Native Method|Unknown Source)\\)(?: .*|$)");

  /**
   * @param kind what is the same in errors of its kind
   */
  private record Failure(long at, ErrorNote note, String kind) {}

  private final LongSupplier nanoTime;
  private final Cache<QueueName, Deque<Failure>> queues;

  RecentErrors() {
    this(System::nanoTime);
  }

  RecentErrors(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.queues =
        Caffeine.newBuilder()
            .maximumSize(QUEUES)
            .expireAfterAccess(AGE)
            .ticker(nanoTime::getAsLong)
            .executor(Runnable::run)
            .build();
  }

  /**
   * The error that is the most frequent one of the last failures.
   *
   * @param text the first line of the newest, at most {@value #MAX_TEXT} characters
   * @param percent the share of the failures that have it, in percent, rounded down
   * @param failures how many failures are known, 1 to 100
   * @param place where at least half of those with this error failed; null if none stands out
   */
  public record Common(String text, int percent, int failures, @Nullable FailurePlace place) {}

  /** Notes that an attempt failed. */
  void add(QueueName queue, ErrorNote note) {
    Deque<Failure> failures = queues.get(queue, name -> new ArrayDeque<>());
    ErrorNote kept = new ErrorNote(note.instance(), note.release(), first(note.message()));
    synchronized (failures) {
      if (failures.size() == KEPT) {
        failures.removeLast();
      }
      failures.addFirst(new Failure(nanoTime.getAsLong(), kept, normal(note.message())));
    }
  }

  /** Returns the most frequent error of a queue; null if no attempt failed here lately. */
  @Nullable Common of(QueueName queue) {
    Deque<Failure> failures = queues.getIfPresent(queue);
    if (failures == null) {
      return null;
    }
    List<Failure> known;
    synchronized (failures) {
      long now = nanoTime.getAsLong();
      failures.removeIf(failure -> now - failure.at() > AGE.toNanos());
      known = List.copyOf(failures);
    }
    // Newest first: of two that are equally frequent, the newer one counts.
    Map<String, List<Failure>> kinds =
        known.stream()
            .collect(Collectors.groupingBy(Failure::kind, LinkedHashMap::new, Collectors.toList()));
    List<Failure> most = List.of();
    for (List<Failure> same : kinds.values()) {
      most = same.size() > most.size() ? same : most;
    }
    return most.isEmpty()
        ? null
        : new Common(
            most.get(0).note().message(),
            most.size() * 100 / known.size(),
            known.size(),
            FailurePlace.of(most.stream().map(Failure::note).toList(), most.size()));
  }

  /**
   * Returns the first line of an error without the address of an instance, at most {@value
   * #MAX_TEXT} characters. If it is cut, it ends with {@value #CUT}.
   */
  public static String first(String message) {
    String line = ANSWER.matcher(line(message)).replaceFirst("$1: ");
    return line.length() > MAX_TEXT ? cut(line, MAX_TEXT - 1) + CUT : line;
  }

  /** Returns what is the same in errors that differ in numbers, ids and instances only. */
  public static String normal(String message) {
    // The address must vary: what is searched for is a piece of the error as it is.
    String line = ANSWER.matcher(line(message)).replaceFirst("$1#: ");
    String same = VARYING.matcher(line).replaceAll("#");
    return same.length() > MAX_TEXT ? cut(same, MAX_TEXT) : same;
  }

  private static String cut(String text, int length) {
    return text.substring(
        0, Character.isHighSurrogate(text.charAt(length - 1)) ? length - 1 : length);
  }

  /** Returns the first line of an error, without a stack trace in the same line. */
  public static String line(String message) {
    return STACK.matcher(message.lines().findFirst().orElse("").strip()).replaceFirst("");
  }
}
