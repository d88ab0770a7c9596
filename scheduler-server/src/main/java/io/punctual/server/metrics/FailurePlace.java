package io.punctual.server.metrics;

import io.punctual.core.job.ErrorNote;
import java.util.Collection;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The instance or release at which at least half of some attempts failed.
 *
 * @param percent the share of these attempts, in percent, rounded down; at least 50
 * @param instance empty if they failed at several instances of the release
 * @param release empty if it is not known
 */
public record FailurePlace(int percent, String instance, String release) {

  private static final double HALF = 50;
  // A factor of the share that each instance would have if all failed equally.
  private static final double STANDS_OUT = 1.5;

  /** Returns the last part of the key of its message. */
  public String kind() {
    return instance.isEmpty() ? "ofRelease" : release.isEmpty() ? "at" : "atRelease";
  }

  /**
   * Returns where failures happened; null if no place stands out.
   *
   * @param all how many failures there are, those whose place is not known included
   */
  public static @Nullable FailurePlace of(Collection<ErrorNote> known, int all) {
    long instances = known.stream().map(ErrorNote::instance).distinct().count();
    // Of two instances that fail equally, one has at least half of the failures.
    double least = instances < 2 ? HALF : Math.max(HALF, STANDS_OUT * 100 / instances);
    FailurePlace at =
        most(known, all, least, note -> new FailurePlace(0, note.instance(), note.release()));
    return at != null
        ? at
        : most(known, all, HALF, note -> new FailurePlace(0, "", note.release()));
  }

  private static @Nullable FailurePlace most(
      Collection<ErrorNote> known, int all, double least, Function<ErrorNote, FailurePlace> place) {
    Map<FailurePlace, Long> places =
        known.stream().collect(Collectors.groupingBy(place, Collectors.counting()));
    return places.entrySet().stream()
        .filter(one -> one.getValue() * 100 >= least * all)
        .filter(one -> !one.getKey().instance.isEmpty() || !one.getKey().release.isEmpty())
        .max(Map.Entry.comparingByValue())
        .map(
            one ->
                new FailurePlace(
                    (int) (one.getValue() * 100 / all),
                    one.getKey().instance,
                    one.getKey().release))
        .orElse(null);
  }
}
