package io.punctual.demo.order;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** All that goes wrong is answered as a problem detail; this one says more than Spring does. */
@RestControllerAdvice
class BadRequests extends ResponseEntityExceptionHandler {

  @Override
  protected @Nullable ResponseEntity<Object> handleHttpMessageNotReadable(
      HttpMessageNotReadableException e,
      HttpHeaders headers,
      HttpStatusCode status,
      WebRequest request) {
    ProblemDetail problem =
        ProblemDetail.forStatusAndDetail(
            HttpStatus.BAD_REQUEST,
            "the body must be JSON whose members have the right types, such as"
                + " {\"item\":\"tea\",\"note\":\"no sugar\",\"payWithinSeconds\":60}, or for the"
                + " partner {\"mode\":\"UP\"} (or FLAKY, DOWN)");
    problem.setTitle("Body not understood");
    return handleExceptionInternal(e, problem, headers, status, request);
  }
}
