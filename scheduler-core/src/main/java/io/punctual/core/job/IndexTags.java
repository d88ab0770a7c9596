package io.punctual.core.job;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Tags that the engine gives a job, so that the store finds it. They begin with a comma, which no
 * submitter can give, and are never shown.
 */
public final class IndexTags {

  private static final Pattern FORM = Pattern.compile(",[!-~]{1,255}");

  private IndexTags() {}

  /**
   * Returns the tag of the latest time at which a job may start.
   *
   * @param millis epoch ms
   */
  public static String notAfter(long millis) {
    return ",%015d".formatted(Math.max(0, millis));
  }

  /** Whether it is one. */
  public static boolean isOne(String tag) {
    return FORM.matcher(tag).matches();
  }

  /** Those that a submitter gave. */
  public static List<String> withoutThem(List<String> tags) {
    // Some characters that a submitter may begin with sort before the comma.
    return tags.stream().noneMatch(tag -> tag.charAt(0) == ',')
        ? tags
        : tags.stream().filter(tag -> tag.charAt(0) != ',').toList();
  }
}
