package io.punctual.server.api;

import io.punctual.ErrorCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is wrong with a call, for its caller: becomes a problem document. */
public final class ApiException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * What was wrong with one part of the input.
   *
   * @param field as the user wrote it, for instance {@code jobs[3].delayTime}
   */
  record FieldError(String field, String detail) {}

  private final ErrorCode code;
  private final transient List<FieldError> errors;
  private final transient Map<String, Object> extra;
  private final @Nullable Duration retryAfter;

  ApiException(
      ErrorCode code,
      String detail,
      List<FieldError> errors,
      Map<String, Object> extra,
      @Nullable Duration retryAfter) {
    super(detail);
    this.code = code;
    this.errors = errors;
    this.extra = extra;
    this.retryAfter = retryAfter;
  }

  /** Something is wrong with a part of the input. */
  public static ApiException invalid(String field, String detail) {
    return new ApiException(
        ErrorCode.INVALID,
        field + " " + detail,
        List.of(new FieldError(field, detail)),
        Map.of(),
        null);
  }

  /** Something else is wrong. */
  public static ApiException of(ErrorCode code, String detail) {
    return new ApiException(code, detail, List.of(), Map.of(), null);
  }

  static ApiException of(ErrorCode code, String detail, Map<String, Object> extra) {
    return new ApiException(code, detail, List.of(), extra, null);
  }

  static ApiException unavailable(String detail, Duration retryAfter) {
    return new ApiException(ErrorCode.UNAVAILABLE, detail, List.of(), Map.of(), retryAfter);
  }

  static ApiException tooMany(String detail, Duration retryAfter) {
    return new ApiException(ErrorCode.TOO_MANY, detail, List.of(), Map.of(), retryAfter);
  }

  /** The status of HTTP that says so. */
  public int status() {
    return code.status();
  }

  ErrorCode code() {
    return code;
  }

  List<FieldError> errors() {
    return errors;
  }

  Map<String, Object> extra() {
    return extra;
  }

  @Nullable Duration retryAfter() {
    return retryAfter;
  }
}
