package io.punctual.server.api;

import io.punctual.ErrorCode;
import io.punctual.core.JobView;
import io.punctual.core.job.JobVersion;
import io.punctual.server.web.ApiException;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The strong entity tag of a job: its incarnation and the number of its last change, so that a job
 * that uses the id of another one never matches that one's tag.
 */
final class EntityTag {

  private static final Pattern TAG = Pattern.compile("\"([^\"\\s]+)\\.(\\d{1,18})\"");

  private EntityTag() {}

  static String of(JobView job) {
    String incarnation = job.incarnation();
    return incarnation == null
        ? "\"" + JobOutput.state(job.state()) + "." + job.at() + "\""
        : of(new JobVersion(incarnation, job.version()));
  }

  static String of(JobVersion version) {
    return "\"" + version.incarnation() + "." + version.number() + "\"";
  }

  /**
   * Checks {@code If-Match}.
   *
   * @return what the store checks again; null for {@code *}
   * @throws ApiException 412 if the job is another version by now
   */
  static @Nullable JobVersion require(String ifMatch, JobView job) {
    if (ifMatch.strip().equals("*")) {
      return null;
    }
    String incarnation = job.incarnation();
    if (incarnation == null
        || Arrays.stream(ifMatch.split(",")).noneMatch(tag -> tag.strip().equals(of(job)))) {
      throw changed();
    }
    return new JobVersion(incarnation, job.version());
  }

  /**
   * Reads {@code If-Match}.
   *
   * @return the versions that it names; tags of any other form are ignored
   */
  static Stream<JobVersion> versions(String ifMatch) {
    return Arrays.stream(ifMatch.split(","))
        .map(tag -> TAG.matcher(tag.strip()))
        .filter(Matcher::matches)
        .map(tag -> new JobVersion(tag.group(1), Long.parseLong(tag.group(2))));
  }

  static ApiException changed() {
    return ApiException.of(
        ErrorCode.CHANGED,
        "the job has changed since it was read, and nothing was done: read it again, and decide"
            + " anew",
        Map.of());
  }
}
