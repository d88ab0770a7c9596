package io.punctual.server.api;

import io.punctual.ErrorCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Becomes a problem document. */
final class ApiException extends RuntimeException {

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

  static ApiException invalid(String field, String detail) {
    return new ApiException(
        ErrorCode.INVALID,
        field + " " + detail,
        List.of(new FieldError(field, detail)),
        Map.of(),
        null);
  }

  static ApiException of(ErrorCode code, String detail) {
    return new ApiException(code, detail, List.of(), Map.of(), null);
  }

  static ApiException of(ErrorCode code, String detail, Map<String, Object> extra) {
    return new ApiException(code, detail, List.of(), extra, null);
  }

  static ApiException unavailable(String detail, Duration retryAfter) {
    return new ApiException(ErrorCode.UNAVAILABLE, detail, List.of(), Map.of(), retryAfter);
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
