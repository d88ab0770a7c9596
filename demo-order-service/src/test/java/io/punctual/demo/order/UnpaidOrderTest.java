package io.punctual.demo.order;

import static io.punctual.test.PunctualAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import io.punctual.test.TestScheduler;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.context.WebApplicationContext;

/** Half an hour in milliseconds: the whole shop, with the scheduler in memory. */
@SpringBootTest
class UnpaidOrderTest {

  private static final String CLOSE = "order.close";

  private final TestScheduler scheduler;
  private final MockMvcTester shop;

  UnpaidOrderTest(@Autowired TestScheduler scheduler, @Autowired WebApplicationContext context) {
    this.scheduler = scheduler;
    this.shop = MockMvcTester.from(context);
  }

  private MvcTestResult post(String path, String body) {
    return shop.post().uri(path).contentType(MediaType.APPLICATION_JSON).content(body).exchange();
  }

  private String placeOrder() throws Exception {
    MvcTestResult placed = post("/orders", "{\"item\":\"kettle\"}");
    assertThat(placed).hasStatus(HttpStatus.CREATED);
    return JsonPath.read(placed.getResponse().getContentAsString(), "$.id");
  }

  private String look(String id, String property) throws Exception {
    MvcTestResult order = shop.get().uri("/orders/" + id).exchange();
    assertThat(order).hasStatusOk();
    return JsonPath.read(order.getResponse().getContentAsString(), "$." + property);
  }

  @Test
  void anOrderThatNobodyPaysClosesItself() throws Exception {
    String id = placeOrder();
    assertThat(scheduler).of(CLOSE).hasOne().dueIn(Duration.ofMinutes(30)).withParams(id);

    scheduler.advance(Duration.ofMinutes(29));
    assertThat(look(id, "status")).isEqualTo("OPEN");

    scheduler.advance(Duration.ofMinutes(1));
    assertThat(look(id, "status")).isEqualTo("CLOSED");
    assertThat(look(id, "endedAt")).isEqualTo(scheduler.now().toString());
    assertThat(scheduler).of(CLOSE).job(id).isDone().wasAttempted(1);
  }

  @Test
  void anOrderThatIsPaidStaysPaid() throws Exception {
    String id = placeOrder();
    scheduler.advance(Duration.ofMinutes(29));

    assertThat(post("/orders/" + id + "/pay", "")).hasStatusOk();
    assertThat(scheduler).of(CLOSE).hasNone();

    scheduler.advance(Duration.ofDays(1));
    assertThat(look(id, "status")).isEqualTo("PAID");
  }

  @Test
  void closingMayComeTwice() throws Exception {
    String id = placeOrder();
    scheduler.faults().loseAnswer(CLOSE);

    scheduler.advance(Duration.ofMinutes(30));
    String endedAt = look(id, "endedAt");
    scheduler.advance(Duration.ofMinutes(1));

    assertThat(scheduler).of(CLOSE).job(id).isDone().wasAttempted(2);
    assertThat(look(id, "status")).isEqualTo("CLOSED");
    assertThat(look(id, "endedAt")).isEqualTo(endedAt);
  }

  @Test
  void anOrderThatIsPaidWhileItIsClosedStaysClosed() throws Exception {
    String id = placeOrder();
    scheduler.advance(Duration.ofMinutes(30));

    assertThat(post("/orders/" + id + "/pay", "")).hasStatus(HttpStatus.CONFLICT);
  }

  @Test
  void withoutASchedulerNoOrderIsTaken() throws Exception {
    scheduler.faults().schedulerAway();
    MvcTestResult all = shop.get().uri("/orders").exchange();
    List<String> before = JsonPath.read(all.getResponse().getContentAsString(), "$[*].id");

    assertThat(post("/orders", "{\"item\":\"kettle\"}")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE);

    all = shop.get().uri("/orders").exchange();
    List<String> after = JsonPath.read(all.getResponse().getContentAsString(), "$[*].id");
    assertThat(after).isEqualTo(before);
  }
}
