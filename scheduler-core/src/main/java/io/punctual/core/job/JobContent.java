package io.punctual.core.job;

import io.punctual.DelayQueueJob;
import io.punctual.DelayQueueJob.Event;
import io.punctual.RetryPolicy;
import io.punctual.schedule.TimeRules;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The content of a job, as its submitter gave it: two submissions with equal content are the same
 * job.
 *
 * @param due as asked for, so that the same relative delay is the same content
 * @param timeToRun null for the default
 * @param tags in ascending order, each once
 * @param retry null for the queue's policy
 * @param timeRules as asked for
 * @param cancelOn events that cancel the job, in ascending order, each once
 * @param runOn events that make it due, likewise
 */
public record JobContent(
    Due due,
    String params,
    @Nullable Duration timeToRun,
    @Nullable RetryPolicy retry,
    Map<String, String> headers,
    List<String> tags,
    TimeRules timeRules,
    List<Event> cancelOn,
    List<Event> runOn) {

  /** Returns what a job says, but for its trace. */
  public static JobContent of(DelayQueueJob job) {
    return of(Due.of(job))
        .params(job.params())
        .timeToRun(job.timeToRun())
        .retry(job.retry())
        .headers(Origin.withoutTrace(job.headers()))
        .tags(job.tags())
        .timeRules(job.timeRules())
        .cancelOn(job.cancelOn())
        .runOn(job.runOn())
        .build();
  }

  /** By what the store finds the job: its tags, and those of its events. */
  public List<String> indexTags() {
    return EventTags.with(tags, cancelOn, runOn);
  }

  /** Starts the content of a job: without params, and all else as the queue has it. */
  public static Builder of(Due due) {
    return new Builder(
        new JobContent(
            due, "", null, null, Map.of(), List.of(), TimeRules.NONE, List.of(), List.of()));
  }

  /** Starts a content with the values of this one. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Collects the parts of a content. */
  public static final class Builder {
    private Due due;
    private String params;
    private @Nullable Duration timeToRun;
    private @Nullable RetryPolicy retry;
    private Map<String, String> headers;
    private List<String> tags;
    private TimeRules timeRules;
    private List<Event> cancelOn;
    private List<Event> runOn;

    private Builder(JobContent content) {
      due = content.due;
      params = content.params;
      timeToRun = content.timeToRun;
      retry = content.retry;
      headers = content.headers;
      tags = content.tags;
      timeRules = content.timeRules;
      cancelOn = content.cancelOn;
      runOn = content.runOn;
    }

    /** Replaces the due time. */
    public Builder due(Due due) {
      this.due = due;
      return this;
    }

    /** Replaces the params. */
    public Builder params(String params) {
      this.params = params;
      return this;
    }

    /** Replaces the time-to-run; null for the default. */
    public Builder timeToRun(@Nullable Duration timeToRun) {
      this.timeToRun = timeToRun;
      return this;
    }

    /** Replaces the retry policy; null for the queue's. */
    public Builder retry(@Nullable RetryPolicy retry) {
      this.retry = retry;
      return this;
    }

    /** Replaces all headers. */
    public Builder headers(Map<String, String> headers) {
      this.headers = headers;
      return this;
    }

    /** Replaces all tags: in ascending order, each once. */
    public Builder tags(List<String> tags) {
      this.tags = tags;
      return this;
    }

    /** Replaces all rules about when the job may start. */
    public Builder timeRules(TimeRules timeRules) {
      this.timeRules = timeRules;
      return this;
    }

    /** Replaces all events that cancel the job: in ascending order, each once. */
    public Builder cancelOn(List<Event> cancelOn) {
      this.cancelOn = cancelOn;
      return this;
    }

    /** Replaces all events that make the job due: in ascending order, each once. */
    public Builder runOn(List<Event> runOn) {
      this.runOn = runOn;
      return this;
    }

    /** Makes the content. */
    public JobContent build() {
      return new JobContent(
          due, params, timeToRun, retry, headers, tags, timeRules, cancelOn, runOn);
    }
  }
}
