package io.punctual.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageNotWritableException;
import org.springframework.web.HttpMediaTypeNotAcceptableException;
import org.springframework.web.context.request.async.AsyncRequestTimeoutException;

@ExtendWith(OutputCaptureExtension.class)
@Isolated("reads what is printed")
class ProblemsTest {

  @Test
  void aCallerWhoWentAwayIsNoErrorOfTheScheduler(CapturedOutput log) {
    Failures.of(
        new HttpMessageNotWritableException(
            "Could not write JSON", new IOException("Broken pipe")));

    assertThat(log.getAll()).isEmpty();
  }

  @Test
  void whatNobodyThoughtOfIsLoggedWithItsStack(CapturedOutput log) {
    Failures.of(new IllegalStateException("a mistake of ours"));

    assertThat(log.getAll())
        .contains("A request failed in an unexpected way", "a mistake of ours", "ProblemsTest");
  }

  @Test
  void theFrameworksStatusIsKept(CapturedOutput log) {
    var notAcceptable =
        new Problems()
            .onAnything(
                new HttpMediaTypeNotAcceptableException(List.of(MediaType.APPLICATION_JSON)));
    assertThat(notAcceptable.getStatusCode().value()).isEqualTo(406);
    assertThat(notAcceptable.getBody())
        .containsEntry("code", "invalid")
        .containsEntry("status", 406);

    var late = new Problems().onAnything(new AsyncRequestTimeoutException());
    assertThat(late.getStatusCode().value()).isEqualTo(503);
    assertThat(late.getHeaders().get("Retry-After")).containsExactly("2");
    assertThat(late.getBody()).containsEntry("code", "unavailable").containsEntry("status", 503);
    assertThat(log.getAll()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "1, 1", "1000, 1", "1001, 2", "1999, 2", "-5, 1"})
  void nobodyIsToldToRetryInZeroSeconds(long millis, String seconds) {
    Duration after = Duration.ofMillis(millis);
    for (ApiException problem :
        List.of(ApiException.unavailable("x", after), ApiException.tooMany("x", after))) {
      assertThat(problem.retryAfterSeconds()).isEqualTo(seconds);
      assertThat(Problems.respond(problem).getHeaders().get("Retry-After"))
          .containsExactly(seconds);
    }
  }
}
