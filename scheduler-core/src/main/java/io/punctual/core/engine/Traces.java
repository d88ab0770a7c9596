package io.punctual.core.engine;

import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobContentCodec;
import io.punctual.core.store.JobRecord;
import java.util.Base64;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The trace in which a job was submitted, so that it goes on where the job runs. It comes and goes
 * as the header {@value #HEADER} of the job (W3C Trace Context), and is kept within the
 * incarnation: it tells nothing of what the job is, so that the same job, submitted again in
 * another trace, is still the same job.
 */
final class Traces {

  static final String HEADER = "traceparent";

  private static final Pattern TRACEPARENT =
      Pattern.compile("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");
  private static final int NAME = 7;
  private static final int TRACED = NAME + 34;

  private Traces() {}

  /** The headers that are content. What is no sound trace is a header as any other. */
  static Map<String, String> withoutTrace(Map<String, String> headers) {
    if (traceparent(headers) == null) {
      return headers;
    }
    Map<String, String> others = new TreeMap<>(headers);
    others.remove(HEADER);
    return Collections.unmodifiableMap(others);
  }

  /** The content without its trace. */
  static JobContent withoutTrace(JobContent content) {
    return with(content, withoutTrace(content.headers()));
  }

  /** A new incarnation of a job with these headers. */
  static String incarnation(Map<String, String> headers) {
    String trace = traceparent(headers);
    String name = RandomNames.incarnation();
    if (trace == null) {
      return name;
    }
    byte[] parts = HexFormat.of().parseHex(trace.substring(3).replace("-", ""));
    return name + Base64.getUrlEncoder().withoutPadding().encodeToString(parts);
  }

  /**
   * The content of a record, with its trace among the headers.
   *
   * @throws CorruptContentException if it cannot be read
   */
  static JobContent content(JobRecord record) {
    JobContent content = JobContentCodec.decode(record.content());
    String trace = traceparent(record.incarnation());
    if (trace == null) {
      return content;
    }
    Map<String, String> headers = new TreeMap<>(content.headers());
    headers.put(HEADER, trace);
    return with(content, Collections.unmodifiableMap(headers));
  }

  private static @Nullable String traceparent(Map<String, String> headers) {
    String trace = headers.get(HEADER);
    return trace != null && TRACEPARENT.matcher(trace).matches() ? trace : null;
  }

  private static @Nullable String traceparent(String incarnation) {
    if (incarnation.length() != TRACED) {
      return null;
    }
    try {
      String hex =
          HexFormat.of().formatHex(Base64.getUrlDecoder().decode(incarnation.substring(NAME)));
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
