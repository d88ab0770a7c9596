package io.punctual.spring;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the name that somebody may have meant. */
public final class NearMiss {

  private static final int MAX_DISTANCE = 2;

  private NearMiss() {}

  /** The one of these names that the given one most looks like, if one does at all. */
  public static Optional<String> of(String given, Collection<String> names) {
    return names.stream()
        .filter(
            name -> plain(name).startsWith(plain(given)) || distance(given, name) <= MAX_DISTANCE)
        .min(Comparator.comparingInt(name -> distance(given, name)));
  }

  // What is left of a name where a property's key was not in brackets.
  private static String plain(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
  }

  /** How many characters must be changed, added or left out (Levenshtein). */
  private static int distance(String given, String name) {
    int[] last = new int[name.length() + 1];
    for (int j = 0; j < last.length; j++) {
      last[j] = j;
    }
    for (int i = 1; i <= given.length(); i++) {
      int[] row = new int[last.length];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int changed = last[j - 1] + (given.charAt(i - 1) == name.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(changed, Math.min(last[j], row[j - 1]) + 1);
      }
      last = row;
    }
    return last[name.length()];
  }
}
