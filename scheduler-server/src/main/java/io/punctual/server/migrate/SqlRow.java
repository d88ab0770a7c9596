package io.punctual.server.migrate;

import java.time.DateTimeException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A job in a table of another library.
 *
 * @param key the values of its primary key that differ from those of the other jobs
 * @param version changes when the old side changes the row: a version, or the next planned time
 * @param name for people
 * @param isFree whether the old side does not run it at this moment
 * @param work null if Punctual cannot take it over
 * @param flaw why it cannot; empty if it can
 */
record SqlRow(
    List<String> key,
    long version,
    String name,
    boolean isRecurring,
    boolean isFree,
    @Nullable OldWork work,
    String flaw) {

  /** Reads a job. */
  interface Reader {
    OldWork read() throws UnreadableException;
  }

  /** Returns the same row; the old side does not run it at this moment, or does. */
  SqlRow free(boolean free) {
    return new SqlRow(key, version, name, isRecurring, free, work, flaw);
  }

  /** Makes a row of what a reader finds. */
  static SqlRow of(
      List<String> key,
      long version,
      String name,
      boolean isRecurring,
      boolean isFree,
      Reader reader) {
    try {
      return new SqlRow(key, version, name, isRecurring, isFree, reader.read().fitting(), "");
    } catch (UnreadableException e) {
      return new SqlRow(
          key, version, name, isRecurring, isFree, null, String.valueOf(e.getMessage()));
    } catch (IllegalArgumentException | ArithmeticException | DateTimeException e) {
      // It says what a schedule must be, or that a time or an interval is out of range.
      return new SqlRow(
          key, version, name, isRecurring, isFree, null, "cannot be moved: " + e.getMessage());
    }
  }
}
