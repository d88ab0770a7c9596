package io.punctual.internal;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The names of Punctual's properties, to find those that are misspelt: Spring Boot ignores them
 * without a word.
 */
public final class KnownProperties {

  private static final String METADATA = "META-INF/spring-configuration-metadata.json";
  private static final String OURS = "punctual.";
  private static final String OUR_VARIABLES = "punctual_";
  // Of the longer name's characters, one in so many may differ in a likely mistake.
  private static final int LIKELY = 5;

  // By their uniform names.
  private final Map<String, String> known = new TreeMap<>();
  // Of maps and lists: what stands below them is in no metadata.
  private final Set<String> open = new TreeSet<>();

  private KnownProperties() {}

  /** Reads metadata: a JSON object with the array {@code properties}. */
  @FunctionalInterface
  public interface MetadataReader {

    /** Returns the type of each property by its name; both are texts of the metadata. */
    Map<String, String> read(InputStream metadata) throws IOException;
  }

  /** Reads the metadata of all jars. */
  public static KnownProperties of(ClassLoader classLoader, MetadataReader reader)
      throws IOException {
    KnownProperties properties = new KnownProperties();
    for (URL url : Collections.list(classLoader.getResources(METADATA))) {
      try (InputStream metadata = url.openStream()) {
        reader.read(metadata).forEach(properties::add);
      }
    }
    return properties;
  }

  private void add(String name, String type) {
    if (name.startsWith(OURS)) {
      known.put(uniform(name), name);
      if (type.startsWith("java.util.")) {
        open.add(uniform(name));
      }
    }
  }

  /**
   * Returns a text about a property that has no effect: its name, and the one that was probably
   * meant. Empty if the property is known or another library's.
   *
   * @param name in any form that Spring Boot reads
   * @param variable whether it is one of the process's environment; others may begin with {@code
   *     PUNCTUAL_}, too, as those that Kubernetes makes of a service: only likely mistakes count
   */
  public Optional<String> describeUnknown(String name, boolean variable) {
    String uniform = uniform(name);
    if (!name.toLowerCase(Locale.ROOT).startsWith(variable ? OUR_VARIABLES : OURS)
        || known.isEmpty()
        || known.containsKey(uniform)
        || open.stream().anyMatch(uniform::startsWith)) {
      return Optional.empty();
    }
    String near = nearest(uniform);
    if (near == null) {
      return variable ? Optional.empty() : Optional.of(name);
    }
    return Optional.of("%s (did you mean %s?)".formatted(name, near));
  }

  private static String uniform(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
  }

  /** Returns the name that is most like it; null if none is. */
  private @Nullable String nearest(String uniform) {
    String nearest = null;
    int least = Integer.MAX_VALUE;
    for (Map.Entry<String, String> one : known.entrySet()) {
      int differences = differences(uniform, one.getKey());
      int most = (Math.max(uniform.length(), one.getKey().length()) - "punctual".length()) / LIKELY;
      if (differences <= most && differences < least) {
        least = differences;
        nearest = one.getValue();
      }
    }
    return nearest == null ? namesake(uniform) : nearest;
  }

  /** Returns the only name with the same last part; null if there is none, or more. */
  private @Nullable String namesake(String uniform) {
    String found = null;
    for (String name : known.values()) {
      String last = uniform(name.substring(name.lastIndexOf('.') + 1));
      if (uniform.equals("punctual" + last) || uniform.equals("punctualclient" + last)) {
        if (found != null) {
          return null;
        }
        found = name;
      }
    }
    return found;
  }

  /** Returns how many characters must be added, removed or replaced (Levenshtein). */
  private static int differences(String one, String other) {
    int[] before = new int[other.length() + 1];
    for (int j = 0; j <= other.length(); j++) {
      before[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      int[] now = new int[other.length() + 1];
      now[0] = i;
      for (int j = 1; j <= other.length(); j++) {
        int replaced = before[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        now[j] = Math.min(replaced, Math.min(before[j], now[j - 1]) + 1);
      }
      before = now;
    }
    return before[other.length()];
  }
}
