package io.punctual.server.problem;

import io.punctual.ErrorCode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The error of a call, for its caller: becomes a problem document. */
public final class ApiException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * What was wrong with one part of the input.
   *
   * @param field as the user wrote it, for instance {@code jobs[3].delayTime}
   */
  public record FieldError(String field, String detail) {}

  private final ErrorCode code;
  private final int status;
  private final transient List<FieldError> errors;
  private final transient Map<String, Object> extra;
  private final @Nullable Duration retryAfter;

  private ApiException(
      ErrorCode code,
      int status,
      String detail,
      List<FieldError> errors,
      Map<String, Object> extra,
      @Nullable Duration retryAfter) {
    super(detail);
    this.code = code;
    this.status = status;
    this.errors = errors;
    this.extra = extra;
    this.retryAfter = retryAfter;
  }

  /**
   * A part of the input is invalid (400).
   *
   * @param field as the caller wrote it
   * @param detail what is wrong with it, as the rest of a sentence that begins with the field
   */
  public static ApiException invalid(String field, String detail) {
    return of(ErrorCode.INVALID, field, detail);
  }

  /** As {@link #invalid}, with a code that says more. */
  public static ApiException of(ErrorCode code, String field, String detail) {
    return new ApiException(
        code,
        code.status(),
        field + " " + detail,
        List.of(new FieldError(field, detail)),
        Map.of(),
        null);
  }

  /** The call is refused for a reason that no field is to blame for. */
  public static ApiException of(ErrorCode code, String detail) {
    return of(code, detail, Map.of());
  }

  /**
   * As {@link #of(ErrorCode, String)}.
   *
   * @param extra further members of the problem document
   */
  public static ApiException of(ErrorCode code, String detail, Map<String, Object> extra) {
    return new ApiException(code, code.status(), detail, List.of(), extra, null);
  }

  /**
   * The scheduler cannot serve the call at the moment (503).
   *
   * @param retryAfter when the caller may try again; at least a second
   */
  public static ApiException unavailable(String detail, Duration retryAfter) {
    return new ApiException(
        ErrorCode.UNAVAILABLE,
        ErrorCode.UNAVAILABLE.status(),
        detail,
        List.of(),
        Map.of(),
        retryAfter);
  }

  /** As {@link #tooMany(String, Map, Duration)}. */
  public static ApiException tooMany(String detail, Duration retryAfter) {
    return tooMany(detail, Map.of(), retryAfter);
  }

  /**
   * The caller has reached a limit of its own (429).
   *
   * @param extra further members of the problem document
   * @param retryAfter when the caller may try again; at least a second
   */
  public static ApiException tooMany(
      String detail, Map<String, Object> extra, Duration retryAfter) {
    return new ApiException(
        ErrorCode.TOO_MANY, ErrorCode.TOO_MANY.status(), detail, List.of(), extra, retryAfter);
  }

  /**
   * The same, of a part of the input: the fields' names begin with its path.
   *
   * @param path for instance {@code jobs[3]}; empty for the whole input
   */
  public ApiException within(String path) {
    if (errors.isEmpty() || path.isEmpty()) {
      return this;
    }
    FieldError error = errors.get(0);
    return of(code, path + (error.field().isEmpty() ? "" : "." + error.field()), error.detail());
  }

  /** The same, with further members of the problem document. */
  public ApiException with(Map<String, Object> more) {
    Map<String, Object> all = new LinkedHashMap<>(extra);
    all.putAll(more);
    return new ApiException(code, status, String.valueOf(getMessage()), errors, all, retryAfter);
  }

  /** The same, with an HTTP status that says more than that of its code. */
  public ApiException as(int other) {
    return new ApiException(code, other, String.valueOf(getMessage()), errors, extra, retryAfter);
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }

  /** What is wrong, for programs. */
  public ErrorCode code() {
    return code;
  }

  /** The parts of the input that are invalid; may be empty. */
  public List<FieldError> errors() {
    return errors;
  }

  /** Further members of the problem document. */
  public Map<String, Object> extra() {
    return extra;
  }

  /** The header {@code Retry-After}, at least 1; null where trying again would not help. */
  public @Nullable String retryAfterSeconds() {
    return retryAfter == null
        ? null
        : Long.toString(Math.max(1, retryAfter.plusMillis(999).toSeconds()));
  }
}
