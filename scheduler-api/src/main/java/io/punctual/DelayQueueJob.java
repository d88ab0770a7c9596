package io.punctual;

import io.punctual.conflict.OnConflict;
import io.punctual.schedule.TimeRules;
import io.punctual.schedule.Windows;
import io.punctual.wire.Durations;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A job: what to run, and when. Immutable; made with {@link #of}.
 *
 * @param taskId the job's name within its task type; chosen by the caller, or random. Submitting
 *     the same id with the same content again does nothing, so a submit may be repeated safely
 * @param taskType the name of the {@link TaskWorker} to run
 * @param delayTime epoch milliseconds at which the job is due; null when {@code delay} is given
 * @param delay how long after its acceptance the job is due, by the scheduler's clock; null when
 *     {@code delayTime} is given
 * @param params text handed to the worker, usually JSON; at most {@link Limits#MAX_PARAMS_BYTES}
 * @param timeToRun how long one attempt may take; null for {@link Limits#DEFAULT_TIME_TO_RUN}
 * @param retry what to do after a failed attempt; null for the queue's policy
 * @param headers small texts that travel with the job, at most {@link Limits#MAX_HEADERS}; {@code
 *     traceparent} (W3C Trace Context) is not counted, and is no part of what makes two jobs the
 *     same
 * @param tags business keys such as {@code order:123}, by which jobs are found, cancelled and moved
 *     together; at most {@link Limits#MAX_TAGS}, kept in ascending order, each once
 * @param timeRules when it may start, besides its due time
 * @param cancelOn events of which the first one cancels the job, also while it runs; at most {@link
 *     Limits#MAX_EVENTS}, kept in ascending order, each once
 * @param runOn events of which the first one makes the job due at once; as many
 * @param onConflict what to do if a job with this id exists; ignored when two jobs are compared. A
 *     debounce needs a {@code delay}, which is its quiet time
 */
public record DelayQueueJob(
    String taskId,
    String taskType,
    @Nullable Long delayTime,
    @Nullable Duration delay,
    String params,
    @Nullable Duration timeToRun,
    @Nullable RetryPolicy retry,
    Map<String, String> headers,
    List<String> tags,
    TimeRules timeRules,
    List<Event> cancelOn,
    List<Event> runOn,
    OnConflict onConflict) {

  /**
   * Something that happens, such as the payment of an order.
   *
   * @param name 1 to 128 characters of {@code [A-Za-z0-9._:-]}, such as {@code order.paid}
   * @param key what the event is about, such as the order's id: 1 to 64 printable ASCII characters
   *     without spaces and commas
   */
  public record Event(String name, String key) implements Comparable<Event> {

    private static final Comparator<Event> ORDER =
        Comparator.comparing(Event::name).thenComparing(Event::key);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException naming the one that is out of range
     */
    public Event {
      Limits.requireName("name", name);
      if (!Limits.TAG.matcher(key).matches()) {
        throw new IllegalArgumentException("key " + Limits.TAG_RULE);
      }
    }

    @Override
    public int compareTo(Event other) {
      return ORDER.compare(this, other);
    }
  }

  /**
   * Checks all values.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public DelayQueueJob {
    Limits.requireTaskId(taskId);
    Limits.requireName("taskType", taskType);
    if ((delayTime == null) == (delay == null)) {
      throw new IllegalArgumentException("exactly one of delayTime and delay must be given");
    }
    if (delayTime != null && (delayTime < 0 || delayTime > Limits.MAX_DUE.toEpochMilli())) {
      throw new IllegalArgumentException(
          "delayTime must be epoch milliseconds between 0 and " + Limits.MAX_DUE.toEpochMilli());
    }
    if (delay != null && (delay.isNegative() || delay.compareTo(Duration.ofDays(2_900_000)) > 0)) {
      throw new IllegalArgumentException("delay must be between 0 and the year 9999, not " + delay);
    }
    if (!Limits.isParams(params)) {
      throw new IllegalArgumentException(
          "params must be at most " + Limits.MAX_PARAMS_BYTES + " bytes of UTF-8");
    }
    if (timeToRun != null) {
      var unused = Limits.requireTimeToRun(timeToRun);
    }
    headers = checkHeaders(headers);
    tags = checkTags(tags);
    timeRules.requireStart(delayTime, delay);
    checkDebounce(onConflict, delay);
    cancelOn = checkEvents("cancelOn", cancelOn);
    runOn = checkEvents("runOn", runOn);
    if (onConflict.merges()) {
      checkMerged(cancelOn, runOn, timeRules, onConflict);
    }
  }

  private static List<Event> checkEvents(String field, List<Event> events) {
    if (events.isEmpty()) {
      return List.of();
    }
    List<Event> sorted = events.stream().sorted().distinct().toList();
    if (sorted.size() > Limits.MAX_EVENTS) {
      throw new IllegalArgumentException(
          field + ": at most " + Limits.MAX_EVENTS + " are allowed, not " + sorted.size());
    }
    return sorted;
  }

  /** Starts a job of the given task type. */
  public static Builder of(String taskType) {
    return new Builder(taskType);
  }

  /**
   * Reads a duration as users write it: {@code 500ms}, {@code 30s}, {@code 10m}, {@code 2h}, {@code
   * 1d}, or ISO-8601.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static Duration parseDuration(String text) {
    return Durations.parse(text);
  }

  /** Starts a job with the values of this one. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  private static void checkMerged(
      List<Event> cancelOn, List<Event> runOn, TimeRules rules, OnConflict onConflict) {
    String rule = " cannot be combined with debounce or whileRunning: ";
    if (!cancelOn.isEmpty() || !runOn.isEmpty()) {
      throw new IllegalArgumentException(
          (cancelOn.isEmpty() ? "runOn" : "cancelOn")
              + rule
              + "no event finds a job that waits for the end of another one");
    } else if (rules.expiresIn() != null) {
      throw new IllegalArgumentException(
          "expiresIn" + rule + "it would count from the first submit; give notAfter");
    } else if (rules.within() != null && onConflict.isDebounce()) {
      throw new IllegalArgumentException(
          "within cannot be combined with debounce: each submit moves the due time");
    }
  }

  private static void checkDebounce(OnConflict onConflict, @Nullable Duration quiet) {
    Duration atMost = onConflict.atMost();
    if (atMost == null) {
      return;
    } else if (quiet == null) {
      throw new IllegalArgumentException("quiet is missing: it says when a debounced job is due");
    } else if (quiet.compareTo(atMost) > 0) {
      throw new IllegalArgumentException(
          "quiet must be at most atMost (" + atMost + "), but was " + quiet);
    } else if (atMost.compareTo(Duration.ofDays(2_900_000)) > 0) {
      throw new IllegalArgumentException("atMost must end before the year 9999, not " + atMost);
    }
  }

  private static Map<String, String> checkHeaders(Map<String, String> headers) {
    if (headers.isEmpty()) {
      return Map.of();
    }
    // Where a job comes from is not counted: whoever adds it does not know of the others.
    int counted = headers.size() - (headers.containsKey("traceparent") ? 1 : 0);
    if (counted > Limits.MAX_HEADERS) {
      throw new IllegalArgumentException(
          "headers: at most " + Limits.MAX_HEADERS + " are allowed, not " + counted);
    }
    headers.forEach(
        (name, value) -> {
          if (!Limits.HEADER_NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                "headers: a name must match "
                    + Limits.HEADER_NAME.pattern()
                    + ", not '"
                    + name
                    + "'");
          }
          if (value.length() > Limits.MAX_HEADER_VALUE
              || !value.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
            throw new IllegalArgumentException(
                "headers."
                    + name
                    + " must be at most "
                    + Limits.MAX_HEADER_VALUE
                    + " printable ASCII characters");
          }
        });
    return java.util.Collections.unmodifiableMap(new TreeMap<>(headers));
  }

  private static List<String> checkTags(List<String> tags) {
    if (tags.isEmpty()) {
      return List.of();
    }
    List<String> sorted = tags.stream().sorted().distinct().toList();
    if (sorted.size() > Limits.MAX_TAGS) {
      throw new IllegalArgumentException(
          "tags: at most " + Limits.MAX_TAGS + " are allowed, not " + sorted.size());
    }
    for (String tag : sorted) {
      if (!Limits.TAG.matcher(tag).matches()) {
        throw new IllegalArgumentException("tags: each " + Limits.TAG_RULE);
      }
    }
    return sorted;
  }

  /** Collects the parts of a job. */
  public static final class Builder {
    private final String taskType;
    private @Nullable String taskId;
    private @Nullable Long delayTime;
    private @Nullable Duration delay;
    private String params = "";
    private @Nullable Duration timeToRun;
    private @Nullable RetryPolicy retry;
    private Map<String, String> headers = Map.of();
    private List<String> tags = List.of();
    private @Nullable Instant notAfter;
    private @Nullable Duration expiresIn;
    private @Nullable Duration within;
    private @Nullable String window;
    private @Nullable ZoneId windowZone;
    private @Nullable String calendar;
    private OnConflict onConflict = OnConflict.REFUSE;
    private List<Event> cancelOn = List.of();
    private List<Event> runOn = List.of();

    private Builder(String taskType) {
      this.taskType = taskType;
    }

    private Builder(DelayQueueJob job) {
      taskType = job.taskType;
      taskId = job.taskId;
      delayTime = job.delayTime;
      delay = job.delay;
      params = job.params;
      timeToRun = job.timeToRun;
      retry = job.retry;
      headers = job.headers;
      tags = job.tags;
      var unused = timeRules(job.timeRules);
      onConflict = job.onConflict;
      cancelOn = job.cancelOn;
      runOn = job.runOn;
    }

    /** Names the job; without this call it gets a random id. */
    public Builder taskId(String taskId) {
      this.taskId = taskId;
      return this;
    }

    /** Due that long after the scheduler accepted it. Replaces an earlier due time. */
    public Builder delay(Duration delay) {
      this.delay = delay;
      this.delayTime = null;
      return this;
    }

    /** Due at that instant, to the millisecond. Replaces an earlier due time. */
    public Builder dueAt(Instant due) {
      return delayTime(due.toEpochMilli());
    }

    /** Due at that epoch millisecond. Replaces an earlier due time. */
    public Builder delayTime(long epochMillis) {
      this.delayTime = epochMillis;
      this.delay = null;
      return this;
    }

    /** The text handed to the worker; empty without this call. */
    public Builder params(String params) {
      this.params = params;
      return this;
    }

    /** How long one attempt may take; null for the default. */
    public Builder timeToRun(@Nullable Duration timeToRun) {
      this.timeToRun = timeToRun;
      return this;
    }

    /** What to do after a failed attempt; null for the queue's policy. */
    public Builder retry(@Nullable RetryPolicy retry) {
      this.retry = retry;
      return this;
    }

    /** Adds a header, or replaces the one of that name. */
    public Builder header(String name, String value) {
      headers = new TreeMap<>(headers);
      headers.put(name, value);
      return this;
    }

    /** Replaces all headers. */
    public Builder headers(Map<String, String> headers) {
      this.headers = headers;
      return this;
    }

    /** Adds a tag, by which the job can be found, such as {@code order:123}. */
    public Builder tag(String tag) {
      tags = new ArrayList<>(tags);
      tags.add(tag);
      return this;
    }

    /** Replaces all tags. */
    public Builder tags(List<String> tags) {
      this.tags = tags;
      return this;
    }

    /**
     * What to do if a job with this id exists; by default, a job with other content is rejected.
     */
    public Builder onConflict(OnConflict onConflict) {
      this.onConflict = onConflict;
      return this;
    }

    /** Adds an event that cancels the job, also while it runs. */
    public Builder cancelOn(String name, String key) {
      cancelOn = new ArrayList<>(cancelOn);
      cancelOn.add(new Event(name, key));
      return this;
    }

    /** Replaces all events that cancel the job. */
    public Builder cancelOn(List<Event> events) {
      this.cancelOn = events;
      return this;
    }

    /** Adds an event that makes the job due at once. */
    public Builder runOn(String name, String key) {
      runOn = new ArrayList<>(runOn);
      runOn.add(new Event(name, key));
      return this;
    }

    /** Replaces all events that make the job due. */
    public Builder runOn(List<Event> events) {
      this.runOn = events;
      return this;
    }

    /**
     * The latest time at which an attempt may start, see {@link TimeRules#notAfter}; null for none.
     * Replaces {@link #expiresIn}.
     */
    public Builder notAfter(@Nullable Instant notAfter) {
      this.notAfter = notAfter;
      this.expiresIn = null;
      return this;
    }

    /** The same, counted from the acceptance of the job. Replaces {@link #notAfter}. */
    public Builder expiresIn(@Nullable Duration expiresIn) {
      this.expiresIn = expiresIn;
      this.notAfter = null;
      return this;
    }

    /** Spreads the start after the due time, see {@link TimeRules#within}. */
    public Builder within(@Nullable Duration within) {
      this.within = within;
      return this;
    }

    /**
     * Starts only at these times of the week; null for any.
     *
     * @param window as {@link Windows#parse} reads it, such as {@code Mon-Fri 09:00-20:00}
     */
    public Builder window(@Nullable String window) {
      this.window = window;
      return this;
    }

    /** The time zone of window and calendar; null for UTC. */
    public Builder windowZone(@Nullable ZoneId zone) {
      this.windowZone = zone;
      return this;
    }

    /** Does not start on the dates of the calendar of that name; null for none. */
    public Builder calendar(@Nullable String name) {
      this.calendar = name;
      return this;
    }

    /** Replaces all rules about when the job may start. */
    public Builder timeRules(TimeRules rules) {
      notAfter = rules.notAfter();
      expiresIn = rules.expiresIn();
      within = rules.within();
      window = rules.window() == null ? null : rules.window().toString();
      windowZone = rules.windowZone();
      calendar = rules.calendar();
      return this;
    }

    /**
     * Makes the job.
     *
     * @throws IllegalArgumentException naming the field that is missing or out of range
     */
    public DelayQueueJob build() {
      return new DelayQueueJob(
          taskId == null ? UUID.randomUUID().toString() : taskId,
          taskType,
          delayTime,
          delay,
          params,
          timeToRun,
          retry,
          headers,
          tags,
          new TimeRules(
              notAfter,
              expiresIn,
              within,
              window == null ? null : Windows.parse(window),
              windowZone,
              calendar),
          cancelOn,
          runOn,
          onConflict);
    }
  }
}
