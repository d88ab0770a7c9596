package io.punctual.server.registry;

import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Finds the name that may be meant by one that is not known. */
final class NearestName {

  private static final int MAX_NAMES = 1_000;

  private NearestName() {}

  /**
   * The nearest of some names.
   *
   * @return null if none is near: more than a quarter of the letters, or three, would change
   */
  static @Nullable String of(String wanted, Collection<String> known) {
    String text = wanted.toLowerCase(Locale.ROOT);
    int least = Math.min(3, Math.max(1, text.length() / 4)) + 1;
    String nearest = null;
    for (String name : known.stream().limit(MAX_NAMES).toList()) {
      int distance = distance(text, name.toLowerCase(Locale.ROOT), least);
      if (distance < least && !name.equals(wanted)) {
        least = distance;
        nearest = name;
      }
    }
    return nearest;
  }

  /** How many letters have to change, be added or go (Levenshtein); {@code most} for more. */
  private static int distance(String a, String b, int most) {
    if (Math.abs(a.length() - b.length()) >= most) {
      return most;
    }
    int[] before = new int[b.length() + 1];
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      before[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      row[0] = i;
      int best = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = before[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(change, Math.min(before[j], row[j - 1]) + 1);
        best = Math.min(best, row[j]);
      }
      if (best >= most) {
        return most;
      }
      int[] old = before;
      before = row;
      row = old;
    }
    return Math.min(before[b.length()], most);
  }
}
