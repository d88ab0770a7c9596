package io.punctual.server.problem;

import io.punctual.ErrorCode;
import io.punctual.core.store.StoreException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.web.ErrorResponse;
import org.springframework.web.util.DisconnectedClientHelper;

/** Translates what fails below a call into what its caller is told. */
public final class Failures {

  private static final Logger log = LoggerFactory.getLogger(Failures.class);
  private static final Map<StoreException.Kind, RareLines> STORE_LINES = new ConcurrentHashMap<>();

  private Failures() {}

  /** Returns what a caller is told when a call ends with this exception. */
  public static ApiException of(Throwable e) {
    Throwable cause = e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
    return switch (cause) {
      case ApiException known -> known;
      case StoreException store -> translate(store);
      case ErrorResponse answer -> framework(answer.getStatusCode().value());
      default -> unexpected(e);
    };
  }

  private static ApiException unexpected(Throwable e) {
    if (e instanceof DataAccessException) {
      warn(StoreException.Kind.UNREACHABLE, e);
      return ApiException.unavailable(
          "the store did not answer; try again later", Duration.ofSeconds(2));
    }
    if (DisconnectedClientHelper.isClientDisconnectedException(e)) {
      log.debug("A caller went away before its answer was written: {}", e.getMessage());
    } else {
      log.error("A request failed in an unexpected way", e);
    }
    return ApiException.of(
        ErrorCode.INTERNAL, "something went wrong in the scheduler; its log says more");
  }

  // That the store is away the engine says; this is how many calls have to do with it.
  private static void warn(StoreException.Kind kind, Throwable e) {
    String line =
        STORE_LINES
            .computeIfAbsent(kind, k -> new RareLines(System::nanoTime))
            .line("Answered 503: " + e.getMessage());
    if (line != null) {
      log.warn("{}", line);
    }
  }

  /** Returns what a caller is told when Redis fails a call. */
  public static ApiException translate(StoreException e) {
    return switch (e.kind()) {
      case UNREACHABLE -> {
        warn(e.kind(), e);
        yield ApiException.unavailable(
            "the store did not answer: whether this took effect is not known; repeat it with the"
                + " same task id, which is safe",
            Duration.ofSeconds(2));
      }
      case UNCONFIRMED -> {
        warn(e.kind(), e);
        yield ApiException.unavailable(
            String.valueOf(e.getMessage())
                + ": it is not known to be safe; repeat it with the same task id, which is safe,"
                + " until it is confirmed",
            Duration.ofSeconds(2));
      }
      case REFUSED -> {
        warn(e.kind(), e);
        yield ApiException.unavailable(
            "Redis refuses writes now (GET /api/v1/store says why): nothing was changed; try"
                + " again later",
            Duration.ofSeconds(5));
      }
      case CORRUPT -> {
        // The engine has said so when it was found, as an error.
        log.debug("Answered 500: {}", e.getMessage());
        yield ApiException.of(
            ErrorCode.INTERNAL,
            "the stored data of this queue is damaged: nothing was changed; an operator must fix"
                + " it: GET /api/v1/doctor says what and how");
      }
      case EXCESSIVE -> ApiException.invalid("taskType", String.valueOf(e.getMessage()));
    };
  }

  /** Returns what a caller is told when the web framework or the web server refuses a call. */
  public static ApiException framework(int status) {
    return switch (status) {
      case 403 ->
          ApiException.of(
              ErrorCode.FORBIDDEN,
              "the call comes from somewhere else: in the profile quickstart only this machine is"
                  + " let in, by its own name, and no web page of another site");
      case 404 ->
          ApiException.of(ErrorCode.NOT_FOUND, "there is nothing at this path; see docs/api.md");
      case 405 ->
          ApiException.of(
              ErrorCode.METHOD_NOT_ALLOWED, "this path does not take this method; see Allow");
      case 406 -> invalid(406, "the answer is JSON, which Accept does not allow");
      case 411 -> invalid(411, "the request must say how long its body is");
      case 413 -> ApiException.of(ErrorCode.TOO_LARGE, "the body is too large");
      case 414 -> invalid(414, "the address is too long");
      case 415 ->
          ApiException.of(
              ErrorCode.UNSUPPORTED_MEDIA_TYPE, "the body must be application/json in UTF-8");
      case 417 -> invalid(417, "Expect must be 100-continue, or not be given");
      case 431 -> invalid(431, "the headers are too large");
      case 503 ->
          ApiException.unavailable(
              "this scheduler could not answer in time; try again later", Duration.ofSeconds(2));
      // A transfer coding or a version of HTTP that is not known here: the client's matter, too.
      case 501, 505 -> invalid(400, "the request could not be understood");
      default ->
          status >= 500
              ? ApiException.of(ErrorCode.INTERNAL, "something went wrong in the scheduler")
              : invalid(400, "the request could not be understood");
    };
  }

  private static ApiException invalid(int status, String detail) {
    return ApiException.of(ErrorCode.INVALID, detail).as(status);
  }

  /** The answer to a body that is not JSON. */
  public static ApiException notJson() {
    return ApiException.of(
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        "the body must be JSON in UTF-8, with Content-Type: application/json");
  }
}
