package io.punctual.demo.order;

import io.punctual.TaskContext;
import io.punctual.demo.order.OrderJobs.Payment;
import java.io.IOException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Set;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;

/** The partner, over HTTP. Answers in time or not at all: well within the job's time to run. */
@Component
class Partner {

  // A wrong password, a path that is not there yet, too many calls: those may be fixed by
  // tomorrow.
  private static final Set<HttpStatusCode> REFUSALS =
      Set.of(HttpStatus.BAD_REQUEST, HttpStatus.CONFLICT, HttpStatus.UNPROCESSABLE_CONTENT);

  private final RestClient http;

  Partner(ShopProperties shop) {
    JdkClientHttpRequestFactory requests =
        new JdkClientHttpRequestFactory(
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build());
    requests.setReadTimeout(Duration.ofSeconds(5));
    this.http =
        RestClient.builder().baseUrl(shop.partnerUrl().toString()).requestFactory(requests).build();
  }

  // Nothing was told then: redirects of a POST are not followed.
  private static void moved(HttpRequest request, ClientHttpResponse response) throws IOException {
    throw new IOException(
        "the partner has moved: HTTP %d to %s; set shop.partner-url"
            .formatted(
                response.getStatusCode().value(), response.getHeaders().getFirst("Location")));
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
          .onStatus(HttpStatusCode::is3xxRedirection, Partner::moved)
          .toBodilessEntity();
    } catch (HttpClientErrorException e) {
      if (!REFUSALS.contains(e.getStatusCode())) {
        throw e;
      }
      // What they call wrong is wrong tomorrow, too: a dead letter, for people.
      throw context.reject("the partner refuses the payment: " + e.getMessage());
    }
  }
}
