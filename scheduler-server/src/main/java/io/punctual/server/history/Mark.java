package io.punctual.server.history;

import io.punctual.server.text.Printable;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Something that explains why figures changed.
 *
 * @param at Redis's time, epoch ms
 * @param text on what: a scheduler, queue, application, search or release; printable
 */
public record Mark(long at, Kind kind, String text) {

  private static final int MAX_TEXT = 120;
  private static final Pattern STORED = Pattern.compile("(\\d{1,15}) (\\w{1,20}) (.+)");

  /** What happened. */
  public enum Kind {
    /** A scheduler started. */
    START,
    /** A queue or an application was paused. */
    PAUSE,
    /** A queue or an application was resumed. */
    RESUME,
    /** Work on many jobs began. */
    BULK,
    /** An application was seen with a release that it did not have before. */
    RELEASE;

    /** Returns whether operators often do this to many queues in a row, with a call for each. */
    boolean comesInBursts() {
      return this == PAUSE || this == RESUME || this == BULK;
    }

    /** Returns the kind that undoes this one; itself if there is none. */
    Kind opposite() {
      return switch (this) {
        case PAUSE -> RESUME;
        case RESUME -> PAUSE;
        default -> this;
      };
    }

    /** Returns its name in stored form and in the API. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Cuts the text and makes it printable. */
  public Mark {
    String shown = Printable.of(text);
    text = shown.length() <= MAX_TEXT ? shown : shown.substring(0, MAX_TEXT - 1) + "…";
  }

  /** As it is stored. */
  String stored() {
    return at + " " + kind.word() + " " + text;
  }

  /** Reads what is stored; null if it is no mark. */
  static @Nullable Mark parse(String stored) {
    Matcher parts = STORED.matcher(stored);
    if (!parts.matches()) {
      return null;
    }
    return Arrays.stream(Kind.values())
        .filter(kind -> kind.word().equals(parts.group(2)))
        .findFirst()
        .map(kind -> new Mark(Long.parseLong(parts.group(1)), kind, parts.group(3)))
        .orElse(null);
  }
}
