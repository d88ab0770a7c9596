package io.punctual.internal;

/** Writes texts of others into one line of a log. */
public final class OneLine {

  private OneLine() {}

  /**
   * Returns a text without line breaks and other control characters.
   *
   * @param longest most characters; what is cut ends in three dots
   */
  public static String of(String text, int longest) {
    String cut =
        text.length() <= longest
            ? text
            : text.substring(
                    0, Character.isHighSurrogate(text.charAt(longest - 1)) ? longest - 1 : longest)
                + "...";
    return cut.replaceAll("[\\p{Cntrl}\\u0085\\u2028\\u2029]+", " ");
  }
}
