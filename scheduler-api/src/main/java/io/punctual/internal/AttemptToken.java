package io.punctual.internal;

import io.punctual.InvalidJobException;
import io.punctual.TaskContext;
import io.punctual.wire.Limits;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The right to speak for one attempt of a job, and all that is needed to find it again: schedulers
 * keep nothing about those who have it. Who has the text can end the attempt; nobody can guess it.
 *
 * @param lease made up by whoever handed the job out
 */
public record AttemptToken(
    String application, String taskType, String taskId, String incarnation, String lease) {

  /** Longest text, in characters. */
  public static final int MAX_TEXT = 1024;

  private static final Pattern INCARNATION = Pattern.compile("[A-Za-z0-9._:-]{1,128}");

  private static final Pattern LEASE = Pattern.compile("[!-~]{1,64}");

  /** As one word of {@code [A-Za-z0-9_-]}. */
  public String text() {
    String all = String.join("\n", application, taskType, taskId, incarnation, lease);
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(all.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Reads {@link #text} back.
   *
   * @throws IllegalArgumentException if it is no such text
   */
  public static AttemptToken parse(String text) {
    if (text.length() > MAX_TEXT) {
      throw new IllegalArgumentException("too long");
    }
    String all = new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8);
    List<String> parts = List.of(all.split("\n", -1));
    if (parts.size() != 5
        || !parts.stream().limit(2).allMatch(Limits::isName)
        || !Limits.isTaskId(parts.get(2))
        || !INCARNATION.matcher(parts.get(3)).matches()
        || !LEASE.matcher(parts.get(4)).matches()) {
      throw new IllegalArgumentException("not of this form");
    }
    return new AttemptToken(parts.get(0), parts.get(1), parts.get(2), parts.get(3), parts.get(4));
  }

  /**
   * What is in a handle that {@link TaskContext#defer} returned.
   *
   * @throws InvalidJobException if it is none
   */
  public static AttemptToken ofHandle(String handle) {
    try {
      return parse(handle);
    } catch (IllegalArgumentException e) {
      throw new InvalidJobException("the handle is none that TaskContext.defer returned");
    }
  }

  /**
   * The same, of a job of that application.
   *
   * @throws InvalidJobException if it is none, or the job is of another application: no repetition
   *     will help
   */
  public static AttemptToken ofHandle(String handle, String application) {
    AttemptToken token = ofHandle(handle);
    if (!token.application.equals(application)) {
      throw new InvalidJobException(
          "the handle is for a job of the application %s, and this is %s"
              .formatted(token.application, application));
    }
    return token;
  }
}
