package io.punctual.server.api;

import io.punctual.Limits;
import io.punctual.core.engine.JobView;
import io.punctual.core.job.JobState;
import io.punctual.core.queue.QueueName;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs are meant: those of one queue in one state, or those of one application with a tag.
 *
 * @param taskType null for all, with a tag only
 * @param state null for any, with a tag only
 * @param from only from this moment on, epoch ms: due time, lease deadline or time of death
 * @param until only up to this moment, epoch ms
 * @param error only where the last error holds this text
 */
public record JobFilter(
    String application,
    @Nullable String taskType,
    @Nullable State state,
    @Nullable String tag,
    @Nullable Long from,
    @Nullable Long until,
    @Nullable String error) {

  /** The states by which jobs can be asked for. */
  public enum State {
    /** Waits, due or not. */
    DELAYED(JobState.DELAYED),
    /** Waits, and is due. */
    READY(JobState.DELAYED),
    /** A worker has it. */
    RESERVED(JobState.RESERVED),
    /** Is kept as a dead letter. */
    DEAD(JobState.DEAD);

    final JobState stored;

    State(JobState stored) {
      this.stored = stored;
    }

    /**
     * The state of that name.
     *
     * @return null for null
     * @throws ApiException 400 for a name that is none
     */
    public static @Nullable State of(@Nullable String name) {
      if (name == null) {
        return null;
      }
      return Arrays.stream(values())
          .filter(state -> state.text().equals(name))
          .findFirst()
          .orElseThrow(
              () ->
                  ApiException.invalid(
                      "state",
                      "must be one of "
                          + Arrays.stream(values())
                              .map(State::text)
                              .collect(Collectors.joining(", "))));
    }

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Checks the parts.
   *
   * @throws ApiException 400, naming the part
   */
  public JobFilter {
    application = new QueueName(JobAnswers.checked("application", application), "x").application();
    if (taskType != null) {
      JobAnswers.checked("taskType", taskType);
    }
    if (tag != null && !Limits.TAG.matcher(tag).matches()) {
      throw ApiException.invalid("tag", Limits.TAG_RULE);
    }
    if (error != null && error.length() > 200) {
      throw ApiException.invalid("error", "must be at most 200 characters");
    }
    if (tag == null && (taskType == null || state == null)) {
      throw ApiException.invalid(
          "tag", "is missing: give a tag, or a taskType and a state of that queue");
    }
    if (from != null && until != null && from > until) {
      throw ApiException.invalid("from", "must not be later than until");
    }
  }

  QueueName queue() {
    return new QueueName(application, Objects.requireNonNull(taskType));
  }

  boolean matches(JobView job) {
    State wanted = state;
    if (wanted != null
        && (job.state() != wanted.stored || (wanted == State.READY && !job.ready()))) {
      return false;
    }
    JobView.Failure last = job.lastFailure();
    return (taskType == null || job.queue().taskType().equals(taskType))
        && (from == null || job.at() >= from)
        && (until == null || job.at() <= until)
        && (error == null || (last != null && last.message().contains(error)));
  }

  /** Binds a cursor to this filter. */
  String fingerprint() {
    return Integer.toHexString(
        Objects.hash(
            application, taskType, state == null ? null : state.text(), tag, from, until, error));
  }

  /** The fields, for an error that lists them. */
  static List<String> fields() {
    return List.of("application", "taskType", "state", "tag", "from", "until", "error");
  }
}
