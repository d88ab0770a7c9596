package io.punctual.demo.order;

import static io.punctual.test.PunctualAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.test.TestScheduler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.context.WebApplicationContext;

/** What is wrong is said, and nothing is ordered. */
@SpringBootTest
class BadRequestsTest {

  private final TestScheduler scheduler;
  private final Customer customer;

  BadRequestsTest(@Autowired TestScheduler scheduler, @Autowired WebApplicationContext context) {
    this.scheduler = scheduler;
    this.customer = new Customer(context);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}|item must be one of cake, tea, teapot",
        "{\"item\":null}|item must be one of",
        "{\"item\":\"\"}|item must be one of",
        "{\"item\":\"gold\"}|item must be one of",
        "{\"item\":\"te\\u0000a\"}|item must be one of",
        "{\"item\":{\"name\":\"tea\"}}|the body must be JSON",
        "{\"item\":\"tea\",\"payWithinSeconds\":-1}|payWithinSeconds must be between 0 and 604800",
        "{\"item\":\"tea\",\"payWithinSeconds\":604801}|payWithinSeconds must be between 0 and 604800",
        "{\"item\":\"tea\",\"payWithinSeconds\":99999999999}|the body must be JSON",
        "{\"item\":\"tea\",\"payWithinSeconds\":\"soon\"}|the body must be JSON",
        "{\"item\":\"tea\",\"note\":\"two\\nlines\"}|note must be at most 100 characters in one line",
        "{\"item\":\"tea\",\"note\":\"\\u0000\"}|note must be at most 100",
        "{\"item\":\"tea\",\"note\":\"half \\ud83d\"}|note must be at most 100",
        "[]|the body must be JSON",
        "null|the body must be JSON",
        "``|the body must be JSON",
        "{\"item\":|the body must be JSON",
      })
  void anOrderThatIsNotOneIsRefusedWithTheReason(String body, String detail) {
    refused(customer.post("/orders", body), HttpStatus.BAD_REQUEST, detail);
    assertThat(scheduler).hasNone();
  }

  @Test
  void aNoteThatIsTooLongIsRefused() {
    refused(
        customer.post("/orders", "{\"item\":\"tea\",\"note\":\"%s\"}".formatted("x".repeat(101))),
        HttpStatus.BAD_REQUEST,
        "note must be at most 100 characters");
  }

  @Test
  void anOrderThatIsNotKnownIsSaidSo() {
    refused(customer.get("/orders/none"), HttpStatus.NOT_FOUND, "no order none is known");
    refused(customer.pays("none"), HttpStatus.NOT_FOUND, "no order none is known");
  }

  @Test
  void aPartnerIsWhatItCanBe() {
    refused(customer.put("/partner", "{}"), HttpStatus.BAD_REQUEST, "FLAKY, DOWN");
    refused(customer.put("/partner", "{\"mode\":\"IN\"}"), HttpStatus.BAD_REQUEST, "FLAKY, DOWN");
  }

  private static void refused(MvcTestResult result, HttpStatus status, String detail) {
    assertThat(result)
        .hasStatus(status)
        .hasContentTypeCompatibleWith(MediaType.APPLICATION_PROBLEM_JSON);
    assertThat(Customer.detail(result)).contains(detail);
  }
}
