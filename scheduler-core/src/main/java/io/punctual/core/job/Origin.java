package io.punctual.core.job;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a job comes from. It is kept beside the content: it tells nothing of what the job is, so
 * that the same job, submitted again by another one in another trace, is still the same job.
 *
 * @param trace W3C {@code traceparent}, so that the trace goes on where the job runs; null if the
 *     job was submitted in none. It comes and goes as the header {@value #HEADER} of the job
 * @param submitter who submitted it, 1 to 64 printable ASCII characters without spaces; null if
 *     that is not known
 */
public record Origin(@Nullable String trace, @Nullable String submitter) {

  /** Nothing is known. */
  public static final Origin UNKNOWN = new Origin(null, null);

  static final String HEADER = "traceparent";

  private static final Pattern TRACEPARENT =
      Pattern.compile("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");
  private static final Pattern UNFIT = Pattern.compile("[^!-~]");
  private static final int MAX_NAME = 64;

  /**
   * The origin of a job with these headers.
   *
   * @param submitter null if it is not known; what does not fit is cut, or becomes {@code _}
   */
  public static Origin of(Map<String, String> headers, @Nullable String submitter) {
    return new Origin(isTraced(headers) ? headers.get(HEADER) : null, name(submitter));
  }

  /** A name as it is stored: what does not fit is cut, or becomes {@code _}; null if empty. */
  static @Nullable String name(@Nullable String given) {
    return given == null || given.isEmpty()
        ? null
        : UNFIT.matcher(given.substring(0, Math.min(MAX_NAME, given.length()))).replaceAll("_");
  }

  /** The headers that are content. What is no sound trace is a header as any other. */
  public static Map<String, String> withoutTrace(Map<String, String> headers) {
    if (!isTraced(headers)) {
      return headers;
    }
    Map<String, String> others = new TreeMap<>(headers);
    others.remove(HEADER);
    return Collections.unmodifiableMap(others);
  }

  /** The headers of a job with this origin. */
  Map<String, String> withTrace(Map<String, String> headers) {
    if (trace == null) {
      return headers;
    }
    Map<String, String> all = new TreeMap<>(headers);
    all.put(HEADER, trace);
    return Collections.unmodifiableMap(all);
  }

  private static boolean isTraced(Map<String, String> headers) {
    String trace = headers.get(HEADER);
    return trace != null && TRACEPARENT.matcher(trace).matches();
  }
}
