package io.punctual.server.text;

import java.util.regex.Pattern;

/** Texts of strangers, as they may stand in a line of a log. */
public final class Printable {

  private static final int MAX = 300;
  // Control and format characters, line and paragraph separators, halves of pairs.
  private static final Pattern NOT = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}]");

  private Printable() {}

  /** On one line, in the order in which it is read, and not too long. */
  public static String of(String text) {
    String cut = text.length() > MAX ? text.substring(0, MAX) + "..." : text;
    return NOT.matcher(cut).replaceAll("?");
  }
}
