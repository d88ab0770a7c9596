package io.punctual.core.job;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The end of a job. Its tombstone keeps it, in at most a hundred bytes.
 *
 * @param attempt the attempt that finished the job, counted from 1; 0 for a cancelled job
 * @param startedAt epoch ms at which that attempt was claimed; 0 for a cancelled job
 * @param late how late the attempt was by then, in ms; 0 for a cancelled job
 * @param by the instance or worker that finished the job, or who cancelled it, 1 to 64 printable
 *     ASCII characters without spaces; null if that is not known
 */
public record Ending(int attempt, long startedAt, long late, @Nullable String by) {

  /** What stands before the event, {@code name=key}, that cancelled a job. */
  public static final String EVENT = "event/";

  private static final Pattern FINISHED =
      Pattern.compile("(\\d{1,9}),(\\d{1,18}),(\\d{1,18}),(\\S+)");
  private static final String NONE = "-";

  /** Cuts the name to what is kept. */
  public Ending {
    by = Origin.name(by);
  }

  /** A job that was cancelled. */
  public static Ending cancelled(@Nullable String by) {
    return new Ending(0, 0, 0, by);
  }

  /** Returns the form that is stored; empty if nothing is known. */
  public String text() {
    String name = by == null ? "" : by;
    return attempt == 0
        ? name
        : attempt + "," + startedAt + "," + late + "," + (name.isEmpty() ? NONE : name);
  }

  /**
   * Reads {@link #text} back.
   *
   * @return null if it is empty, or of no such form
   */
  public static @Nullable Ending parse(boolean finished, String text) {
    if (!finished) {
      return text.isEmpty() ? null : cancelled(text);
    }
    Matcher parts = FINISHED.matcher(text);
    return parts.matches()
        ? new Ending(
            Integer.parseInt(parts.group(1)),
            Long.parseLong(parts.group(2)),
            Long.parseLong(parts.group(3)),
            parts.group(4).equals(NONE) ? null : parts.group(4))
        : null;
  }
}
