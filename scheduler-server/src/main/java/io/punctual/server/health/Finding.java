package io.punctual.server.health;

import io.punctual.core.job.QueueName;
import io.punctual.server.probe.Status;
import io.punctual.server.text.Text;
import io.punctual.server.text.Texts;
import java.util.List;
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
 * @param messageText for people
 * @param remedyText what to do; null where nothing is to be done
 */
public record Finding(
    Code code, Status severity, Subject subject, Text messageText, @Nullable Text remedyText) {

  private static final Texts TEXTS = new Texts("findings", Finding.class);

  /**
   * Makes a finding.
   *
   * @param variant of its texts in findings.properties; empty for those of the code
   * @param values of their placeholders: a name, its value, the next name, and so on
   */
  static Finding of(Code code, String variant, Status severity, Subject subject, Object... values) {
    Map<String, Object> placeholders = Texts.values(values);
    return new Finding(
        code,
        severity,
        subject,
        Objects.requireNonNull(TEXTS.get(code.word(), variant, "message", placeholders)),
        severity == Status.OK ? null : TEXTS.get(code.word(), variant, "remedy", placeholders));
  }

  /**
   * Returns a text that is part of others.
   *
   * @param values of its placeholders: a name, its value, the next name, and so on
   */
  static Text part(String name, Object... values) {
    return new Text(TEXTS, name, Texts.values(values));
  }

  /** Returns a list as a value of a placeholder: its first items, and the number of the others. */
  static Object some(List<?> all, int most) {
    return all.size() <= most
        ? all
        : part("more", "some", all.subList(0, most), "count", all.size() - most);
  }

  /** The same, about what all applications have in common. */
  static Finding of(Code code, String variant, Status severity, Object... values) {
    return of(code, variant, severity, Subject.ALL, values);
  }

  /** Makes a finding that all is well. */
  static Finding ok(Code code, String variant, Object... values) {
    return of(code, variant, Status.OK, values);
  }

  /** Returns what was found, in English. */
  public String text() {
    return messageText.toString();
  }

  /** Returns what to do, in English; null where nothing is to be done. */
  public @Nullable String remedy() {
    return remedyText == null ? null : remedyText.toString();
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
    VERSIONS,
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
