package io.punctual.demo.order;

import io.punctual.TaskContext;
import io.punctual.demo.order.OrderJobs.Payment;
import java.net.http.HttpClient;
import java.time.Duration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;

/** The partner, over HTTP. Answers in time or not at all: well within the job's time to run. */
@Component
class Partner {

  private final RestClient http;

  Partner(ShopProperties shop) {
    JdkClientHttpRequestFactory requests =
        new JdkClientHttpRequestFactory(
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build());
    requests.setReadTimeout(Duration.ofSeconds(5));
    this.http =
        RestClient.builder().baseUrl(shop.partnerUrl().toString()).requestFactory(requests).build();
  }

  /**
   * Tells of a payment. May be repeated: the job's id is the same on each attempt, so the partner
   * knows by it what it has.
   */
  void tell(Payment payment, TaskContext context) {
    try {
      http.post()
          .uri("/payments")
          .contentType(MediaType.APPLICATION_JSON)
          .header("Idempotency-Key", context.taskId())
          .body(payment)
          .retrieve()
          .toBodilessEntity();
    } catch (HttpClientErrorException e) {
      if (e.getStatusCode().isSameCodeAs(HttpStatus.TOO_MANY_REQUESTS)) {
        throw e;
      }
      // What they call wrong is wrong tomorrow, too: a dead letter, for people.
      throw context.reject("the partner refuses the payment: " + e.getMessage());
    }
  }
}
