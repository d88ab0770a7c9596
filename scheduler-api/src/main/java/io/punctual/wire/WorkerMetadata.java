package io.punctual.wire;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The metadata that a worker instance writes to the registry.
 *
 * @param taskTypes the task types that it runs
 * @param callbackPath the path that callbacks are POSTed to, context path included
 * @param protocol {@code batch} or {@code single}
 * @param concurrency jobs that it takes at once, 1 to {@value #MAX_CONCURRENCY}
 * @param release of the application, as {@link #isRelease} allows; null if it does not say
 */
public record WorkerMetadata(
    Set<String> taskTypes,
    String callbackPath,
    String protocol,
    int concurrency,
    @Nullable String release) {

  /** Registry metadata key: comma-separated task types. */
  public static final String TASK_TYPES = "punctual.task-types";

  /** Registry metadata key: where to POST callbacks. */
  public static final String CALLBACK_PATH = "punctual.callback-path";

  /**
   * Registry metadata key of an instance whose {@link PingAnswer} says the rest: where to POST
   * callbacks. It speaks the batch protocol. Registries that allow no dots in keys (Consul), or
   * only short values, have this alone.
   */
  public static final String CALLBACK = "punctual-callback";

  /** Registry metadata key: {@code batch} or {@code single}. */
  public static final String PROTOCOL = "punctual.protocol";

  /** Registry metadata key: jobs that the instance takes at once. */
  public static final String CONCURRENCY = "punctual.concurrency";

  /** Registry metadata key: the application's release. */
  public static final String RELEASE = "punctual.release";

  /** Many jobs a POST, a result line each: what our starter speaks. */
  public static final String BATCH = "batch";

  /** One job a POST, as a CloudEvent: what any web application can speak. */
  public static final String SINGLE = "single";

  /** Where callbacks go when the metadata does not say. */
  public static final String DEFAULT_CALLBACK_PATH = "/punctual/callback";

  /** Jobs at once when the metadata does not say. */
  public static final int DEFAULT_CONCURRENCY = 100;

  /** Most jobs at once that a scheduler believes. */
  public static final int MAX_CONCURRENCY = 10_000;

  /** Most task types of an instance. */
  public static final int MAX_TASK_TYPES = 1_000;

  /** Longest path, in characters. */
  public static final int MAX_CALLBACK_PATH = 1_000;

  /** Longest release, in characters. */
  public static final int MAX_RELEASE = 64;

  /** What a release must be, as the end of a sentence. */
  public static final String RELEASE_RULE =
      "must be 1 to " + MAX_RELEASE + " printable ASCII characters without spaces";

  private static final int MAX_TASK_TYPES_TEXT = MAX_TASK_TYPES * (Limits.MAX_NAME + 16);
  private static final int QUOTED = 100;

  // Possessive: the greedy form calls itself for each segment, until the stack is full.
  private static final Pattern PATH = Pattern.compile("(?:/[A-Za-z0-9._~-]++)++");

  private static final Pattern RELEASES = Pattern.compile("[!-~]+");

  /** Checks the values. */
  public WorkerMetadata {
    taskTypes = Set.copyOf(taskTypes);
    if (taskTypes.size() > MAX_TASK_TYPES) {
      throw new IllegalArgumentException(
          TASK_TYPES + " must be at most " + MAX_TASK_TYPES + ", not " + taskTypes.size());
    }
    for (String type : taskTypes) {
      if (!Limits.isName(type)) {
        throw new IllegalArgumentException(
            TASK_TYPES + " " + Limits.NAME_RULE + ", not " + quoted(type));
      }
    }
    if (!isPlainPath(callbackPath)) {
      throw new IllegalArgumentException(
          CALLBACK_PATH
              + " must be a plain absolute path of at most "
              + MAX_CALLBACK_PATH
              + " characters, not "
              + quoted(callbackPath));
    }
    if (!protocol.equals(BATCH) && !protocol.equals(SINGLE)) {
      throw new IllegalArgumentException(
          PROTOCOL + " must be batch or single, not " + quoted(protocol));
    }
    if (concurrency < 1 || concurrency > MAX_CONCURRENCY) {
      throw new IllegalArgumentException(
          CONCURRENCY + " must be between 1 and " + MAX_CONCURRENCY + ", not " + concurrency);
    }
    if (release != null && !isRelease(release)) {
      throw new IllegalArgumentException(RELEASE + " " + RELEASE_RULE + ", not " + quoted(release));
    }
  }

  /** Returns the same of an instance that runs these task types. */
  public WorkerMetadata withTaskTypes(Set<String> types) {
    return new WorkerMetadata(types, callbackPath, protocol, concurrency, release);
  }

  /** One that does not say its release. */
  public WorkerMetadata(
      Set<String> taskTypes, String callbackPath, String protocol, int concurrency) {
    this(taskTypes, callbackPath, protocol, concurrency, null);
  }

  /**
   * Returns whether a text is the name of a release, such as {@code 2.14.0}: 1 to {@value
   * #MAX_RELEASE} printable ASCII characters without spaces.
   */
  public static boolean isRelease(String text) {
    return text.length() <= MAX_RELEASE && RELEASES.matcher(text).matches();
  }

  /**
   * Whether a text is the path of a URL and nothing else: segments of {@code [A-Za-z0-9._~-]}, none
   * of which means the place itself or the one above.
   */
  public static boolean isPlainPath(String text) {
    return text.length() <= MAX_CALLBACK_PATH
        && PATH.matcher(text).matches()
        && !text.contains("/..")
        && !(text + "/").contains("/./");
  }

  private static String quoted(String text) {
    return text.length() <= QUOTED
        ? "'" + text + "'"
        : "'" + text.substring(0, QUOTED) + "...' (" + text.length() + " characters)";
  }

  /** The registry metadata entries. */
  public Map<String, String> toMap() {
    Map<String, String> map = new LinkedHashMap<>();
    map.put(TASK_TYPES, String.join(",", new TreeSet<>(taskTypes)));
    map.put(CALLBACK_PATH, callbackPath);
    map.put(PROTOCOL, protocol);
    map.put(CONCURRENCY, Integer.toString(concurrency));
    if (release != null) {
      map.put(RELEASE, release);
    }
    return map;
  }

  /** Whether registry metadata are those of a worker. */
  public static boolean isWorker(Map<String, String> map) {
    return map.containsKey(TASK_TYPES) || map.containsKey(CALLBACK);
  }

  /** The same, with what the instance says itself in its answer to a ping. */
  public WorkerMetadata with(PingAnswer answer) {
    return new WorkerMetadata(
        answer.taskTypes() == null ? taskTypes : Set.copyOf(answer.taskTypes()),
        callbackPath,
        protocol,
        answer.concurrency() == null ? concurrency : answer.concurrency(),
        answer.release() == null ? release : answer.release());
  }

  /**
   * Reads registry metadata; missing entries take their defaults.
   *
   * @throws IllegalArgumentException naming the entry that makes no sense
   */
  public static WorkerMetadata from(Map<String, String> map) {
    String concurrency = map.getOrDefault(CONCURRENCY, Integer.toString(DEFAULT_CONCURRENCY));
    if (!concurrency.matches("\\d{1,9}")) {
      throw new IllegalArgumentException(
          CONCURRENCY + " must be a number, not " + quoted(concurrency));
    }
    String types = map.getOrDefault(TASK_TYPES, "");
    if (types.length() > MAX_TASK_TYPES_TEXT) {
      throw new IllegalArgumentException(
          TASK_TYPES + " must be at most " + MAX_TASK_TYPES + " names, not " + quoted(types));
    }
    return new WorkerMetadata(
        Arrays.stream(types.split(","))
            .map(String::strip)
            .filter(type -> !type.isEmpty())
            .collect(Collectors.toSet()),
        map.getOrDefault(CALLBACK_PATH, map.getOrDefault(CALLBACK, DEFAULT_CALLBACK_PATH)),
        map.getOrDefault(PROTOCOL, map.containsKey(CALLBACK) ? BATCH : SINGLE),
        Integer.parseInt(concurrency),
        map.get(RELEASE));
  }
}
