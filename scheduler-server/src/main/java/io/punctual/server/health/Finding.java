package io.punctual.server.health;

import io.punctual.core.job.QueueName;
import io.punctual.server.probe.Status;
import io.punctual.server.text.Texts;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One thing that a health check found, good or bad. Health, doctor and console show findings and
 * judge nothing themselves.
 *
 * @param code what it is, for programs
 * @param severity how bad it is
 * @param subject what it is about
 * @param text for people
 * @param remedy what to do; null where nothing is to be done
 */
public record Finding(
    Code code, Status severity, Subject subject, String text, @Nullable String remedy) {

  private static final Texts TEXTS = new Texts("findings.properties", Finding.class);

  /**
   * Makes a finding.
   *
   * @param variant of its texts in findings.properties; empty for those of the code
   * @param values of their placeholders: a name, its value, the next name, and so on
   */
  static Finding of(Code code, String variant, Status severity, Subject subject, String... values) {
    Map<String, String> placeholders = new HashMap<>();
    for (int i = 0; i < values.length; i += 2) {
      placeholders.put(values[i], values[i + 1]);
    }
    return new Finding(
        code,
        severity,
        subject,
        Objects.requireNonNull(TEXTS.get(code.word(), variant, "message", placeholders)),
        severity == Status.OK ? null : TEXTS.get(code.word(), variant, "remedy", placeholders));
  }

  /** The same, about what all applications have in common. */
  static Finding of(Code code, String variant, Status severity, String... values) {
    return of(code, variant, severity, Subject.ALL, values);
  }

  /** Makes a finding that all is well. */
  static Finding ok(Code code, String variant, String... values) {
    return of(code, variant, Status.OK, values);
  }

  /**
   * What a finding is about.
   *
   * @param application null for what all applications have in common
   * @param queue null where it is not about one queue
   */
  public record Subject(@Nullable String application, @Nullable QueueName queue) {

    static final Subject ALL = new Subject(null, null);

    static Subject of(@Nullable String application) {
      return application == null ? ALL : new Subject(application, null);
    }

    static Subject of(QueueName queue) {
      return new Subject(queue.application(), queue);
    }
  }

  /** The kinds of findings; docs/doctor.md says what each looks at. */
  public enum Code {
    REDIS,
    DURABILITY,
    LOSSES,
    CLOCK,
    REGISTRY,
    REGISTRATION,
    INSTALLATION,
    WORKERS,
    WORKER,
    OUTLIER,
    UNSERVED,
    PARKED,
    /** Jobs that are due wait, though workers take them. */
    LATE,
    CIRCUITS,
    FAILING,
    DAMAGED,
    /** The queue or its application is paused. */
    PAUSED,
    SCANNERS,
    QUEUES,
    QUOTA,
    /** There are dead letters. */
    DEAD;

    /** As the API writes it. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether the doctor lists it. Dead letters are shown where they can be looked through. */
    public boolean isCheck() {
      return compareTo(DEAD) < 0;
    }
  }

  /**
   * Returns whether jobs are late or in danger. Instances that are not reached delay nothing by
   * themselves: their queues say so where jobs wait.
   */
  public boolean urgent() {
    return severity == Status.PROBLEM && code != Code.WORKER && code != Code.WORKERS;
  }
}
