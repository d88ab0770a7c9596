package io.punctual.server.console;

import io.punctual.server.jobs.JobFilter;
import io.punctual.server.problem.ApiException;
import io.punctual.wire.Limits;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What somebody looks for, as typed: words such as {@code state:dead app:shop error:"timed out"},
 * and one without a name, which is an id or a tag.
 *
 * @param text as it was typed, to be shown and to be linked
 * @param any an id or a tag
 * @param from epoch ms
 * @param until epoch ms
 * @param at the instance of a failed attempt
 * @param release the application's release there
 */
record JobQuery(
    String text,
    @Nullable String any,
    @Nullable String id,
    @Nullable String tag,
    @Nullable String application,
    @Nullable String taskType,
    JobFilter.@Nullable State state,
    @Nullable Long from,
    @Nullable Long until,
    @Nullable String error,
    @Nullable String at,
    @Nullable String release) {

  private static final int MAX_TEXT = 1_000;
  private static final Pattern WORD =
      Pattern.compile(
          "(?:(id|tag|app|type|state|from|until|error|at|release):)?(?:\"([^\"]*)\"|(\\S+))\\s*");

  /** What cannot be read, to be shown again as it was typed. */
  static JobQuery unread(String typed) {
    return new JobQuery(typed, null, null, null, null, null, null, null, null, null, null, null);
  }

  /**
   * Returns the name that a word without a known one begins with: it may be an id or a tag, or a
   * mistake.
   */
  public @Nullable String unknownName() {
    int colon = any == null ? -1 : any.indexOf(':');
    return any == null || colon < 1 ? null : any.substring(0, colon + 1);
  }

  /**
   * Reads what was typed.
   *
   * @param times how its times are read
   * @throws ApiException 400 that says which word is not understood
   */
  static JobQuery parse(String typed, TimeWords times) {
    String text = typed.strip();
    if (text.length() > MAX_TEXT) {
      throw ApiException.invalid("q", "must be at most " + MAX_TEXT + " characters");
    }
    Map<String, String> words = new LinkedHashMap<>();
    Matcher matcher = WORD.matcher(text);
    int end = 0;
    while (end < text.length() && matcher.find(end) && matcher.start() == end) {
      end = matcher.end();
      String name = matcher.group(1) == null ? "any" : matcher.group(1);
      String value = matcher.group(2) == null ? matcher.group(3) : matcher.group(2);
      if (words.put(name, value) != null) {
        throw ApiException.invalid(
            name.equals("any") ? "q" : name,
            name.equals("any")
                ? "has two words without a name; use one, or names such as id: tag: app: type:"
                    + " state: from: until: error: at: release:"
                : "is given twice");
      }
    }
    String error = words.get("error");
    if (error != null && error.length() > JobFilter.MAX_ERROR) {
      throw ApiException.invalid(
          "error:", "must be at most " + JobFilter.MAX_ERROR + " characters");
    }
    String first = words.get("from");
    String last = words.get("until");
    Long from = first == null ? null : times.from("from", first);
    Long until = last == null ? null : times.until("until", last);
    if (from != null && until != null && from > until) {
      throw ApiException.invalid("from", "must not be later than until");
    }
    return new JobQuery(
        text,
        words.get("any"),
        words.get("id"),
        words.get("tag"),
        words.containsKey("app") ? words.get("app").toLowerCase(Locale.ROOT) : null,
        words.get("type"),
        JobFilter.State.of(words.get("state")),
        from,
        until,
        error,
        words.get("at"),
        words.get("release"));
  }

  /** What is wanted of the attempts that failed. */
  JobFilter.Failed failed() {
    return new JobFilter.Failed(error, at, release);
  }

  /** The id that is looked for; null if none is. */
  @Nullable String wantedId() {
    return id != null ? id : any;
  }

  /** The tag that is looked for; null if none is. */
  @Nullable String wantedTag() {
    return tag != null ? tag : any != null && Limits.TAG.matcher(any).matches() ? any : null;
  }

  /** Returns whether it names only queues and states. */
  boolean isOfQueues() {
    return any == null
        && id == null
        && tag == null
        && from == null
        && until == null
        && error == null
        && at == null
        && release == null;
  }

  /** Returns the application, the task type, or both as {@code shop/order.close}; may be empty. */
  String where() {
    return Stream.of(application, taskType)
        .filter(Objects::nonNull)
        .collect(Collectors.joining("/"));
  }

  /** Names the text that says of what its times are. */
  public String atWhat() {
    if (state == null) {
      return wantedTag() == null ? "due" : "any";
    }
    return switch (state) {
      case DELAYED, READY -> "due";
      case RESERVED -> "reserved";
      case DEAD -> "dead";
    };
  }

  /** Whether jobs of this state are what a search for a state shows. */
  public boolean shows(JobFilter.State shown) {
    return state == null
        ? shown == JobFilter.State.DELAYED && any == null && id == null && tag == null
        : state == shown;
  }

  /** The same search in another state. */
  public String in(String other) {
    String rest = text.replaceAll("(^|\\s)state:\\S+", "$1").strip().replaceAll("\\s+", " ");
    return (rest.isEmpty() ? "" : rest + " ") + "state:" + other;
  }

  /**
   * The jobs of a bulk operation, of all queues that the words leave; null where they name an id,
   * or neither a tag, a task type nor a state.
   */
  @Nullable JobFilter asFilter() {
    if (any != null || id != null || (tag == null && taskType == null && state == null)) {
      return null;
    }
    JobFilter.State wanted = state == null && tag == null ? JobFilter.State.DELAYED : state;
    return new JobFilter(application, taskType, wanted, tag, from, until, failed());
  }

  /** The words that find the jobs of a queue in a state. */
  static String of(String application, String taskType, String state) {
    return "app:" + application + " type:" + taskType + " state:" + state;
  }
}
