package io.punctual.server.web;

import io.punctual.ErrorCode;
import io.punctual.core.store.StoreException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.util.DisconnectedClientHelper;
import tools.jackson.databind.json.JsonMapper;

/** Every error becomes a problem document (RFC 9457), without stack, class names or addresses. */
@RestControllerAdvice
public class Problems {

  private static final Logger log = LoggerFactory.getLogger(Problems.class);

  /** Where the command protocol is, which has errors of its own form. */
  public static final String COMMAND = "/api/v1/command";

  private static final JsonMapper JSON = new JsonMapper();
  private static final Map<StoreException.Kind, RareLines> STORE_LINES = new ConcurrentHashMap<>();

  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onApi(ApiException e) {
    return respond(e);
  }

  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onStore(StoreException e) {
    return respond(translate(e));
  }

  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onAsync(CompletionException e) {
    return e.getCause() instanceof StoreException store ? respond(translate(store)) : onAnything(e);
  }

  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onAnything(Exception e) {
    if (e instanceof ErrorResponse response) {
      return respond(framework(response.getStatusCode().value()), response.getHeaders());
    }
    return respond(unexpected(e));
  }

  /** A parameter in the address that is no UTF-8, for instance. */
  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onParameter(InvalidParameterException e) {
    return respond(framework(400));
  }

  /** What nobody thought of. */
  public static ApiException unexpected(Exception e) {
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
  private static void warn(StoreException.Kind kind, Exception e) {
    String line =
        STORE_LINES
            .computeIfAbsent(kind, k -> new RareLines(System::nanoTime))
            .line("Answered 503: " + e.getMessage());
    if (line != null) {
      log.warn("{}", line);
    }
  }

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

  /** The errors that the web framework or the web server find by themselves. */
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

  static ResponseEntity<Map<String, Object>> respond(ApiException e) {
    return respond(e, HttpHeaders.EMPTY);
  }

  private static ResponseEntity<Map<String, Object>> respond(ApiException e, HttpHeaders headers) {
    ResponseEntity.BodyBuilder builder =
        ResponseEntity.status(HttpStatusCode.valueOf(e.status()))
            .headers(h -> h.putAll(headers))
            .contentType(MediaType.APPLICATION_PROBLEM_JSON);
    String retryAfter = e.retryAfterSeconds();
    if (retryAfter != null) {
      builder.header(HttpHeaders.RETRY_AFTER, retryAfter);
    }
    return builder.body(document(e));
  }

  /** Answers with a problem, before any controller. */
  static void write(HttpServletRequest request, HttpServletResponse response, ApiException problem)
      throws IOException {
    boolean command = ServedPath.of(request).equals(COMMAND);
    response.setStatus(problem.status());
    response.setContentType(
        command ? MediaType.APPLICATION_JSON_VALUE : MediaType.APPLICATION_PROBLEM_JSON_VALUE);
    String retryAfter = problem.retryAfterSeconds();
    if (retryAfter != null) {
      response.setHeader(HttpHeaders.RETRY_AFTER, retryAfter);
    }
    response
        .getOutputStream()
        .write(JSON.writeValueAsBytes(command ? commandFailure(null, problem) : document(problem)));
  }

  /** What the command protocol says about an error. */
  public static Map<String, Object> commandFailure(@Nullable String id, ApiException e) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("success", false);
    answer.put("error", e.getMessage());
    answer.put("id", id);
    answer.put("value", null);
    return answer;
  }

  /** The members of a problem document. */
  public static Map<String, Object> document(ApiException e) {
    Map<String, Object> problem = new LinkedHashMap<>();
    problem.put("type", "urn:punctual:problem:" + e.code().slug());
    problem.put("title", title(e.code()));
    problem.put("status", e.status());
    problem.put("detail", String.valueOf(e.getMessage()));
    problem.put("code", e.code().slug());
    if (!e.errors().isEmpty()) {
      problem.put("errors", e.errors());
    }
    problem.putAll(e.extra());
    return problem;
  }

  private static String title(ErrorCode code) {
    return switch (code) {
      case INVALID -> "The input is not valid";
      case UNAUTHENTICATED -> "Not authenticated";
      case FORBIDDEN -> "Not allowed";
      case NOT_FOUND -> "Not found";
      case METHOD_NOT_ALLOWED -> "Method not allowed";
      case CONFLICT -> "Another job has this id";
      case WRONG_STATE -> "Not possible in the job's state";
      case LEASE_LOST -> "The job is not yours any more";
      case CHANGED -> "The job has changed";
      case IDEMPOTENCY_KEY_REUSED -> "The key was used for another job";
      case TOO_LARGE -> "The body is too large";
      case UNSUPPORTED_MEDIA_TYPE -> "Not a content type that is read here";
      case TOO_MANY -> "Too much at once";
      case INTERNAL -> "Internal error";
      case UNAVAILABLE -> "Not available at the moment";
    };
  }
}
