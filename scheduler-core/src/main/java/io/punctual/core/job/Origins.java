package io.punctual.core.job;

import java.util.Base64;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a job comes from: who submitted it, and in which trace, so that it goes on where the job
 * runs. Both are kept within the incarnation: they tell nothing of what the job is, so that the
 * same job, submitted again by another one in another trace, is still the same job. The trace comes
 * and goes as the header {@value #HEADER} of the job (W3C Trace Context).
 *
 * <pre>
 * name of 7 characters [trace in 34] [: submitter]
 * </pre>
 *
 * <p>A submitter that begins with the job's own application and a slash begins with a colon
 * instead: it is the application's own token, as for most jobs, and costs no more than it must.
 */
public final class Origins {

  static final String HEADER = "traceparent";

  private static final Pattern TRACEPARENT =
      Pattern.compile("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");
  private static final Pattern UNFIT = Pattern.compile("[^A-Za-z0-9._-]");
  private static final int NAME = 7;
  private static final int TRACED = NAME + 34;
  private static final int MAX_SUBMITTER = 64;
  private static final char MARK = ':';

  private Origins() {}

  /** The headers that are content. What is no sound trace is a header as any other. */
  public static Map<String, String> withoutTrace(Map<String, String> headers) {
    if (traceparent(headers) == null) {
      return headers;
    }
    Map<String, String> others = new TreeMap<>(headers);
    others.remove(HEADER);
    return Collections.unmodifiableMap(others);
  }

  /** The content without its trace. */
  public static JobContent withoutTrace(JobContent content) {
    return with(content, withoutTrace(content.headers()));
  }

  /**
   * A new incarnation of a job.
   *
   * @param submitter null where it is not known
   */
  public static String incarnation(
      Map<String, String> headers, String application, @Nullable String submitter) {
    String trace = traceparent(headers);
    String name = RandomNames.incarnation();
    if (trace != null) {
      byte[] parts = HexFormat.of().parseHex(trace.substring(3).replace("-", ""));
      name += Base64.getUrlEncoder().withoutPadding().encodeToString(parts);
    }
    if (submitter == null) {
      return name;
    }
    String own = application + "/";
    return submitter.startsWith(own)
        ? name + MARK + MARK + fit(submitter.substring(own.length()))
        : name + MARK + fit(submitter);
  }

  private static String fit(String submitter) {
    String cut = submitter.substring(0, Math.min(MAX_SUBMITTER, submitter.length()));
    return UNFIT.matcher(cut).replaceAll("_");
  }

  /** Who submitted a job, as far as an incarnation can say it; null where that is not known. */
  public static @Nullable String submitter(String incarnation, String application) {
    int mark = incarnation.indexOf(MARK);
    if (mark < 0) {
      return null;
    }
    String rest = incarnation.substring(mark + 1);
    return !rest.isEmpty() && rest.charAt(0) == MARK ? application + "/" + rest.substring(1) : rest;
  }

  /**
   * The content of a record, with its trace among the headers.
   *
   * @throws CorruptContentException if it cannot be read
   */
  public static JobContent content(JobRecord record) {
    JobContent content = JobContentCodec.decode(record.content());
    String trace = traceparent(record.incarnation());
    if (trace == null) {
      return content;
    }
    Map<String, String> headers = new TreeMap<>(content.headers());
    headers.put(HEADER, trace);
    return with(content, Collections.unmodifiableMap(headers));
  }

  /** As {@link #content}; null if there is no record or it cannot be read. */
  public static @Nullable JobContent contentOrNull(@Nullable JobRecord record) {
    if (record == null) {
      return null;
    }
    try {
      return content(record);
    } catch (CorruptContentException e) {
      // The job's last error says so, once it was to be handed out.
      return null;
    }
  }

  private static @Nullable String traceparent(Map<String, String> headers) {
    String trace = headers.get(HEADER);
    return trace != null && TRACEPARENT.matcher(trace).matches() ? trace : null;
  }

  private static @Nullable String traceparent(String incarnation) {
    int mark = incarnation.indexOf(MARK);
    String name = mark < 0 ? incarnation : incarnation.substring(0, mark);
    if (name.length() != TRACED) {
      return null;
    }
    try {
      String hex = HexFormat.of().formatHex(Base64.getUrlDecoder().decode(name.substring(NAME)));
      return "00-" + hex.substring(0, 32) + "-" + hex.substring(32, 48) + "-" + hex.substring(48);
    } catch (IllegalArgumentException e) {
      // Not one of ours: an incarnation is any name.
      return null;
    }
  }

  private static JobContent with(JobContent content, Map<String, String> headers) {
    return new JobContent(
        content.due(),
        content.params(),
        content.timeToRun(),
        content.retry(),
        headers,
        content.tags());
  }
}
