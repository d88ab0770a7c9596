package io.punctual.server.console;

import io.punctual.core.job.QueueName;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.RecentErrors;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** How values are shown on pages. */
final class Shown {

  // What nobody sees, or what turns the text behind it around, so that it reads as something else.
  private static final Pattern UNSEEN = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}]");
  private static final Pattern UNSEEN_IN_LINES =
      Pattern.compile("(?!\\r?\\n|\\t)[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}]");

  private static final Pattern MOMENT =
      Pattern.compile("\\b\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?Z\\b");

  // So much of a name is always there.
  private static final int TAIL = 10;

  /** A moment of epoch ms, as machines write it; the browser makes it the viewer's. */
  public String moment(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }

  /** Somebody's text of one line, in which nothing plays tricks on the eye. */
  public String text(@Nullable Object text) {
    return text == null ? "" : seen(UNSEEN, text.toString());
  }

  /** The same with line breaks and tabs, which are seen by what they do. */
  public String lines(@Nullable Object text) {
    return text == null ? "" : seen(UNSEEN_IN_LINES, text.toString());
  }

  /**
   * A piece of a text.
   *
   * @param moment whether it is a time as machines write it
   */
  record Piece(String text, boolean moment) {}

  /**
   * Splits a text where it has times as machines write them; the browser makes them the viewer's.
   */
  public List<Piece> timed(String text) {
    List<Piece> pieces = new ArrayList<>();
    Matcher moment = MOMENT.matcher(text);
    int from = 0;
    while (moment.find()) {
      pieces.add(new Piece(text.substring(from, moment.start()), /* moment= */ false));
      pieces.add(new Piece(moment.group(), /* moment= */ true));
      from = moment.end();
    }
    pieces.add(new Piece(text.substring(from), /* moment= */ false));
    return pieces;
  }

  /** Whether a text holds characters that are not seen, or turn those behind them around. */
  static boolean hasUnseen(String text) {
    return UNSEEN.matcher(text).find();
  }

  /** Splits an error into parts; {@link #text} or {@link #lines} must show them. */
  public ErrorText error(@Nullable String text) {
    return ErrorText.of(text == null ? "" : text);
  }

  /**
   * Returns the words that find the jobs of a queue with its most frequent error; null if no words
   * tell them from other jobs.
   */
  public @Nullable String withError(QueueSample row) {
    if (row.error() == null) {
      return null;
    }
    String whole = row.error().text();
    String text = whole.endsWith(RecentErrors.CUT) ? whole.substring(0, whole.length() - 1) : whole;
    String part = DeadLetters.part(text, RecentErrors.normal(text));
    // Those that are tried again are not dead yet.
    String state = row.stats().deadInHour() > 0 ? "dead" : "delayed";
    QueueName queue = row.queue();
    return part == null
        ? null
        : JobQuery.of(queue.application(), queue.taskType(), state) + " error:\"" + part + "\"";
  }

  /** What of a name gives way first: its end is what tells it from others. */
  public String head(@Nullable Object name) {
    String text = text(name);
    return text.substring(0, Math.max(0, text.length() - TAIL));
  }

  /** The rest of a name, behind {@link #head}. */
  public String tail(@Nullable Object name) {
    return text(name).substring(head(name).length());
  }

  private static String seen(Pattern unseen, String text) {
    return unseen
        .matcher(text)
        .replaceAll(found -> "\u27E8U+%04X\u27E9".formatted(found.group().codePointAt(0)));
  }
}
