package io.punctual.server.web;

import io.punctual.ErrorCode;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import tools.jackson.databind.json.JsonMapper;

/** Every error becomes a problem document (RFC 9457), without stack, class names or addresses. */
@RestControllerAdvice
public class Problems {

  /** Where the command protocol is, which has errors of its own form. */
  public static final String COMMAND = "/api/v1/command";

  private static final JsonMapper JSON = new JsonMapper();

  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onAnything(Exception e) {
    return respond(
        Failures.of(e),
        e instanceof ErrorResponse response ? response.getHeaders() : HttpHeaders.EMPTY);
  }

  /** Answers a call whose query is not UTF-8, for instance. */
  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onParameter(InvalidParameterException e) {
    return respond(Failures.framework(400));
  }

  static ResponseEntity<Map<String, Object>> respond(ApiException e) {
    return respond(e, HttpHeaders.EMPTY);
  }

  private static ResponseEntity<Map<String, Object>> respond(ApiException e, HttpHeaders headers) {
    return builder(e)
        .headers(h -> h.putAll(headers))
        .contentType(MediaType.APPLICATION_PROBLEM_JSON)
        .body(document(e));
  }

  private static ResponseEntity.BodyBuilder builder(ApiException e) {
    ResponseEntity.BodyBuilder builder = ResponseEntity.status(HttpStatusCode.valueOf(e.status()));
    String retryAfter = e.retryAfterSeconds();
    return retryAfter == null ? builder : builder.header(HttpHeaders.RETRY_AFTER, retryAfter);
  }

  /**
   * Makes the answer of the command protocol.
   *
   * @param id the command's; null where it has none
   */
  public static ResponseEntity<Map<String, Object>> command(@Nullable String id, ApiException e) {
    return builder(e).contentType(MediaType.APPLICATION_JSON).body(commandFailure(id, e));
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
  private static Map<String, Object> commandFailure(@Nullable String id, ApiException e) {
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
