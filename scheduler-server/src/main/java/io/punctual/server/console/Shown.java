package io.punctual.server.console;

import java.time.Instant;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** How values are shown on pages. */
final class Shown {

  // They would turn what stands behind them around, so that it reads as something else.
  private static final Pattern TURNING =
      Pattern.compile("[\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]");

  /** A moment of epoch ms, as machines write it; the browser makes it the viewer's. */
  public String moment(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }

  /** Somebody's text, in which nothing plays tricks on the eye. */
  public String text(@Nullable String text) {
    return text == null
        ? ""
        : TURNING
            .matcher(text)
            .replaceAll(found -> "\u27E8U+%04X\u27E9".formatted((int) found.group().charAt(0)));
  }
}
