package io.punctual.spring.modulith;

import io.punctual.InvalidJobException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/**
 * A target of {@code @Externalized} that names a job, without its key.
 *
 * @param taskType the job's task type
 * @param delay after which the job is due; null if {@code at} is set
 * @param at when the job is due; null if {@code delay} is set
 */
record JobTarget(String taskType, @Nullable Duration delay, @Nullable Instant at) {

  private static final String PREFIX = "punctual:";
  private static final String FORM =
      "The form is punctual:TASK_TYPE::KEY, punctual:TASK_TYPE?delay=30m::KEY or"
          + " punctual:TASK_TYPE?at=#{dueAt}::KEY.";

  /** Returns whether a target names a job. */
  static boolean isJob(String target) {
    return target.startsWith(PREFIX);
  }

  /**
   * Reads a target whose expressions are evaluated.
   *
   * @throws InvalidJobException if the target does not have the form
   */
  static JobTarget parse(String target) {
    String[] parts = target.substring(PREFIX.length()).split("\\?", 2);
    if (parts[0].isEmpty()) {
      throw invalid(target, "names no task type");
    } else if (parts.length == 1) {
      return new JobTarget(parts[0], Duration.ZERO, null);
    }
    String[] parameter = parts[1].split("=", 2);
    String value = parameter.length == 2 ? parameter[1] : "";
    return switch (parameter[0]) {
      case "delay" -> new JobTarget(parts[0], delay(target, value), null);
      case "at" -> new JobTarget(parts[0], null, at(target, value));
      default -> throw invalid(target, "has the parameter " + parameter[0]);
    };
  }

  private static Duration delay(String target, String value) {
    try {
      return DurationStyle.detectAndParse(value);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw invalid(target, "has the delay '%s', which is no duration".formatted(value));
    }
  }

  private static Instant at(String target, String value) {
    try {
      return Instant.parse(value);
    } catch (DateTimeException e) {
      throw invalid(target, "has the due time '%s', which is no instant".formatted(value));
    }
  }

  private static InvalidJobException invalid(String target, String what) {
    return new InvalidJobException("the target '%s' %s. %s".formatted(target, what, FORM));
  }
}
