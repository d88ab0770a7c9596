package io.punctual.server.jobs;

import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.query.JobView;
import io.punctual.server.problem.ApiException;
import io.punctual.wire.Limits;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The jobs that a caller asks for: by tag, by state, or both.
 *
 * @param application null for all
 * @param taskType null for all
 * @param state null for any; required without a tag
 * @param from epoch ms: the earliest due time, lease deadline or time of death
 * @param until epoch ms: the latest
 * @param failed what is wanted of the attempts that failed
 */
public record JobFilter(
    @Nullable String application,
    @Nullable String taskType,
    @Nullable State state,
    @Nullable String tag,
    @Nullable Long from,
    @Nullable Long until,
    Failed failed)
    implements JobSelection {

  /** How long a part of an error may be, in characters. */
  public static final int MAX_ERROR = 200;

  /**
   * What is wanted of a job's attempts that failed.
   *
   * @param error a part of the last error; null for any
   * @param at the instance of one of the last ten that failed; null for any
   * @param release the application's release there; null for any
   */
  public record Failed(@Nullable String error, @Nullable String at, @Nullable String release) {

    /** Wants a part of the last error; null for any. */
    public static Failed with(@Nullable String error) {
      return new Failed(error, null, null);
    }

    /** Returns whether it matches all jobs. */
    public boolean isAny() {
      return error == null && at == null && release == null;
    }

    /** Returns whether the attempts of a job are like that. */
    public boolean matches(JobView job) {
      JobView.Failure last = job.lastFailure();
      return (error == null || (last != null && last.message().contains(error)))
          && ((at == null && release == null) || job.failures().stream().anyMatch(this::isThere));
    }

    private boolean isThere(JobView.Failure failure) {
      return (at == null || failure.instance().equals(at))
          && (release == null || failure.release().equals(release));
    }
  }

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

    private final JobState stored;

    State(JobState stored) {
      this.stored = stored;
    }

    /** The state in the store, in which such jobs stand in order of time. */
    public JobState stored() {
      return stored;
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

    /** As the API writes it. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Checks the parts.
   *
   * @throws ApiException 400, naming the part
   */
  public JobFilter {
    QueueName queue =
        JobRef.queue(
            application == null ? "any" : application, taskType == null ? "any" : taskType);
    application = application == null ? null : queue.application();
    if (tag != null && !Limits.TAG.matcher(tag).matches()) {
      throw ApiException.invalid("tag", Limits.TAG_RULE);
    }
    if (failed.error() != null && failed.error().length() > MAX_ERROR) {
      throw ApiException.invalid("error", "must be at most " + MAX_ERROR + " characters");
    }
    if (tag == null && state == null) {
      throw ApiException.invalid("tag", "is missing: give a tag, or a state");
    }
    if (from != null && until != null && from > until) {
      throw ApiException.invalid("from", "must not be later than until");
    }
  }

  @Override
  public String text() {
    return ((application == null ? "" : " app:" + application)
            + (taskType == null ? "" : " type:" + taskType)
            + (state == null ? "" : " state:" + state.text())
            + (tag == null ? "" : " tag:" + tag)
            + (from == null ? "" : " from:" + Instant.ofEpochMilli(from))
            + (until == null ? "" : " until:" + Instant.ofEpochMilli(until))
            + (failed.error() == null ? "" : " error:\"" + failed.error() + "\"")
            + (failed.at() == null ? "" : " at:" + failed.at())
            + (failed.release() == null ? "" : " release:" + failed.release()))
        .substring(1);
  }

  /** The queue that it names; null where it may match jobs of several. */
  @Nullable QueueName queue() {
    return application == null || taskType == null ? null : new QueueName(application, taskType);
  }

  /** Whether it may match jobs of that queue. */
  boolean covers(QueueName queue) {
    return (application == null || queue.application().equals(application))
        && (taskType == null || queue.taskType().equals(taskType));
  }

  boolean matches(JobView job) {
    State wanted = state;
    if (wanted != null
        && (job.state() != wanted.stored || (wanted == State.READY && !job.ready()))) {
      return false;
    }
    return covers(job.queue())
        && (from == null || job.at() >= from)
        && (until == null || job.at() <= until)
        && failed.matches(job);
  }

  /** Binds a cursor to this filter. */
  String fingerprint() {
    return Integer.toHexString(
        Objects.hash(
            application,
            taskType,
            state == null ? null : state.text(),
            tag,
            from,
            until,
            failed.error(),
            failed.at(),
            failed.release()));
  }
}
