package io.punctual.server.rest;

import io.punctual.core.JobView;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** A job as JSON; in lists without params, headers and retry policy. */
final class JobOutput {

  private JobOutput() {}

  static Map<String, Object> of(JobView job) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("application", job.queue().application());
    out.put("taskType", job.queue().taskType());
    out.put("taskId", job.taskId());
    out.put("state", state(job.state()));
    if (job.version() > 0) {
      out.put("version", job.version());
    }
    switch (job.state()) {
      case DELAYED -> {
        out.put("dueAt", Instant.ofEpochMilli(job.at()).toString());
        out.put("delayTime", job.at());
      }
      case RESERVED -> {
        Map<String, Object> lease = new LinkedHashMap<>();
        lease.put("attempt", job.attempt());
        lease.put("owner", job.owner());
        lease.put("until", Instant.ofEpochMilli(job.at()).toString());
        out.put("lease", lease);
      }
      case DEAD -> out.put("diedAt", Instant.ofEpochMilli(job.at()).toString());
      case FINISHED -> out.put("finishedAt", Instant.ofEpochMilli(job.at()).toString());
      case CANCELLED -> out.put("cancelledAt", Instant.ofEpochMilli(job.at()).toString());
    }
    if (job.state() != JobState.FINISHED && job.state() != JobState.CANCELLED) {
      Map<String, Object> attempts = new LinkedHashMap<>();
      attempts.put("failed", job.tries().failed());
      attempts.put("unknown", job.tries().unknown());
      attempts.put("undeliverable", job.tries().undeliverable());
      attempts.put("counted", job.tries().counted());
      attempts.put("max", job.maxAttempts());
      out.put("attempts", attempts);
    }
    if (job.acceptedAt() > 0) {
      out.put("acceptedAt", Instant.ofEpochMilli(job.acceptedAt()).toString());
    }
    if (job.submitter() != null) {
      out.put("submittedBy", job.submitter());
    }
    JobContent content = job.content();
    if (content != null) {
      out.put("params", content.params());
      if (!content.headers().isEmpty()) {
        out.put("headers", content.headers());
      }
    }
    if (!job.tags().isEmpty()) {
      out.put("tags", job.tags());
    }
    if (job.timeToRun() > 0) {
      out.put("timeToRun", job.timeToRun());
    }
    if (content != null) {
      if (content.retry() != null) {
        out.put("retry", content.retry().text());
      }
    }
    if (!job.failures().isEmpty()) {
      out.put("lastError", failure(job.failures().get(0)));
      out.put("failures", job.failures().stream().map(JobOutput::failure).toList());
    }
    return out;
  }

  private static Map<String, Object> failure(JobView.Failure failure) {
    Map<String, Object> out = new LinkedHashMap<>();
    if (failure.attempt() > 0) {
      out.put("attempt", failure.attempt());
      out.put("startedAt", Instant.ofEpochMilli(failure.startedAt()).toString());
      out.put("durationMs", failure.at() - failure.startedAt());
    }
    out.put("at", Instant.ofEpochMilli(failure.at()).toString());
    out.put("kind", failure.kind());
    out.put("instance", failure.instance());
    out.put("message", failure.message());
    return out;
  }

  static String state(JobState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}
