package io.punctual.server.api;

import io.punctual.ErrorCode;
import io.punctual.core.engine.JobView;
import io.punctual.core.store.Revision;
import io.punctual.server.web.ApiException;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The entity tag of a job: changes with its content, state, due time and attempt. */
final class JobVersion {

  private JobVersion() {}

  static String of(JobView job) {
    return "\""
        + Objects.requireNonNullElse(job.incarnation(), "none")
        + "."
        + JobOutput.state(job.state())
        + "."
        + job.at()
        + "\"";
  }

  /**
   * Checks {@code If-Match}.
   *
   * @return what the store shall check again; null for {@code *}
   * @throws ApiException 412 if the job is another version by now
   */
  static Revision.@Nullable Version require(String ifMatch, JobView job) {
    if (ifMatch.strip().equals("*")) {
      return null;
    }
    String incarnation = job.incarnation();
    if (incarnation == null
        || Arrays.stream(ifMatch.split(",")).noneMatch(tag -> tag.strip().equals(of(job)))) {
      throw changed();
    }
    return new Revision.Version(incarnation, job.at());
  }

  static ApiException changed() {
    return ApiException.of(
        ErrorCode.CHANGED,
        "the job has changed since it was read: read it again, and decide anew",
        Map.of());
  }
}
