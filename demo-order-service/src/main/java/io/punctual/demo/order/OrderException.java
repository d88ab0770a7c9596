package io.punctual.demo.order;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/** What a customer can do nothing about by waiting: answered as a problem detail (RFC 9457). */
final class OrderException extends ErrorResponseException {

  private OrderException(HttpStatus status, String title, String detail) {
    super(status, problem(status, title, detail), null);
  }

  private static ProblemDetail problem(HttpStatus status, String title, String detail) {
    ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
    problem.setTitle(title);
    return problem;
  }

  static OrderException invalid(String field, String rule) {
    OrderException invalid =
        new OrderException(HttpStatus.BAD_REQUEST, "Invalid order", field + " " + rule);
    invalid.getBody().setProperty("field", field);
    return invalid;
  }

  static OrderException soldOut(String item) {
    return new OrderException(
        HttpStatus.CONFLICT,
        "Sold out",
        "there is no " + item + " left; if an open order closes, one comes back");
  }

  static OrderException unknown(String id) {
    return new OrderException(
        HttpStatus.NOT_FOUND, "No such order", "no order " + id + " is known");
  }

  static OrderException closed(Order order) {
    return new OrderException(
        HttpStatus.CONFLICT,
        "Order closed",
        "order " + order.id() + " was closed at " + order.endedAt() + "; place another one");
  }
}
