package io.punctual.wire;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.regex.Pattern;

/** The limits of all fields of a job. Clients and schedulers check the same limits. */
public final class Limits {

  /** Longest task id, task type or application name, in characters. */
  public static final int MAX_NAME = 128;

  /** What {@link #isName} asks for, in words that follow a field's name. */
  public static final String NAME_RULE =
      "must be 1 to 128 characters of [A-Za-z0-9._:-], and not . or ..";

  /** Most recurring schedules of an application, where it is not set otherwise. */
  public static final int MAX_SCHEDULES = 10_000;

  /** Longest id of a recurring schedule, in characters. */
  public static final int MAX_SCHEDULE_ID = 100;

  /** Longest {@code params}, in bytes of UTF-8. */
  public static final int MAX_PARAMS_BYTES = 256 * 1024;

  /** Most headers on one job. */
  public static final int MAX_HEADERS = 16;

  /** Header names: what is also a valid HTTP field name, in lower case. */
  public static final Pattern HEADER_NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,63}");

  /** Longest header value, in characters; values are printable ASCII and spaces. */
  public static final int MAX_HEADER_VALUE = 1024;

  /** Most tags on one job. */
  public static final int MAX_TAGS = 8;

  /** Most events of each kind that one job names. */
  public static final int MAX_EVENTS = 8;

  /** Tags: business keys such as {@code order:123}. */
  public static final Pattern TAG = Pattern.compile("[\\x21-\\x2b\\x2d-\\x7e]{1,64}");

  /** What {@link #TAG} asks for, in words that follow a field's name. */
  public static final String TAG_RULE =
      "must be 1 to 64 printable ASCII characters without spaces and commas";

  /** Most dead letters that {@code TaskSubmitService.deadLetters} lists at once. */
  public static final int MAX_DEAD_LETTERS = 200;

  /** Most jobs in one batch submit. */
  public static final int MAX_BATCH = 1000;

  /** The last instant at which a job may be due: the end of the year 9999, UTC. */
  public static final Instant MAX_DUE = Instant.parse("9999-12-31T23:59:59.999Z");

  /** Shortest and longest time-to-run of one attempt. */
  public static final Duration MIN_TIME_TO_RUN = Duration.ofSeconds(1);

  /** Longest time-to-run of one attempt. */
  public static final Duration MAX_TIME_TO_RUN = Duration.ofHours(24);

  /** Time-to-run of an attempt where the job names none. */
  public static final Duration DEFAULT_TIME_TO_RUN = Duration.ofSeconds(60);

  /** Longest time for which a job may be left to be finished by somebody else, at once. */
  public static final Duration MAX_DEFERRAL = Duration.ofDays(30);

  /** Longest delay of a retry. */
  public static final Duration MAX_RETRY_DELAY = Duration.ofDays(30);

  /** Most attempts that a retry policy may ask for. */
  public static final int MAX_ATTEMPTS = 1000;

  /** Most steps of a retry ladder. */
  public static final int MAX_LADDER_STEPS = 64;

  private static final Pattern PLANNED =
      Pattern.compile("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{3})?Z");

  private Limits() {}

  /**
   * Whether a text can be a task id, task type or application name: 1 to {@value #MAX_NAME}
   * characters of {@code [A-Za-z0-9._:-]}, but not {@code .} and {@code ..}, which no URL can hold
   * as a part of its path.
   */
  public static boolean isName(String value) {
    int length = value.length();
    for (int i = 0; i < length; i++) {
      char c = value.charAt(i);
      boolean allowed =
          (c >= 'a' && c <= 'z')
              || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= ':')
              || c == '.'
              || c == '_'
              || c == '-';
      if (!allowed) {
        return false;
      }
    }
    return length > 0 && length <= MAX_NAME && !value.equals(".") && !value.equals("..");
  }

  /**
   * Whether a text can be the id of a job: a name, or the id that a schedule gives to its job, such
   * as {@code nightly@2027-01-31T01:00:00Z}. Only schedules submit the latter.
   */
  public static boolean isTaskId(String value) {
    int at = value.indexOf('@');
    return at < 0
        ? isName(value)
        : at <= MAX_SCHEDULE_ID
            && isName(value.substring(0, at))
            && PLANNED.matcher(value.substring(at + 1)).matches();
  }

  /** Whether UTF-8 can say a text: it holds no half of a surrogate pair. */
  public static boolean isWhole(String text) {
    int length = text.length();
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        i++;
        if (i == length || !Character.isSurrogatePair(c, text.charAt(i))) {
          return false;
        }
      }
    }
    return true;
  }

  /** Whether a job may carry these params. */
  public static boolean isParams(String params) {
    // A char is at most three bytes: most texts need not be encoded to be counted.
    return params.length() <= MAX_PARAMS_BYTES / 3
        || params.getBytes(StandardCharsets.UTF_8).length <= MAX_PARAMS_BYTES;
  }

  /**
   * Checks a time-to-run.
   *
   * @throws IllegalArgumentException if it is out of range
   */
  public static Duration requireTimeToRun(Duration timeToRun) {
    if (timeToRun.compareTo(MIN_TIME_TO_RUN) < 0 || timeToRun.compareTo(MAX_TIME_TO_RUN) > 0) {
      throw new IllegalArgumentException(
          "timeToRun must be between "
              + MIN_TIME_TO_RUN
              + " and "
              + MAX_TIME_TO_RUN
              + ", not "
              + timeToRun);
    }
    return timeToRun;
  }

  /**
   * Checks a time within which a job must be finished by somebody else.
   *
   * @throws IllegalArgumentException if it is out of range
   */
  public static Duration requireDeferral(Duration within) {
    if (within.compareTo(MIN_TIME_TO_RUN) < 0 || within.compareTo(MAX_DEFERRAL) > 0) {
      throw new IllegalArgumentException(
          "within must be between " + MIN_TIME_TO_RUN + " and " + MAX_DEFERRAL + ", not " + within);
    }
    return within;
  }

  /**
   * Checks a task id, task type or application name.
   *
   * @param field how the value is called in the message
   * @throws IllegalArgumentException if it is none: {@link #isName}
   */
  public static String requireName(String field, String value) {
    if (!isName(value)) {
      throw new IllegalArgumentException(field + " " + NAME_RULE);
    }
    return value;
  }

  /**
   * Checks the id of a job that is there.
   *
   * @throws IllegalArgumentException if it is none: {@link #isTaskId}
   */
  public static String requireTaskId(String value) {
    if (!isTaskId(value)) {
      throw new IllegalArgumentException("taskId " + NAME_RULE);
    }
    return value;
  }
}
