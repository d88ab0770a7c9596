package io.punctual.spring.client.actuate;

import static com.github.tomakehurst.wiremock.client.WireMock.any;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.client.WireMock.okJson;
import static com.github.tomakehurst.wiremock.client.WireMock.serviceUnavailable;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import io.punctual.SchedulerUnavailableException;
import io.punctual.client.json.Jackson3Json;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerLocator;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

class PunctualHealthIndicatorTest {

  private final WireMockServer scheduler =
      new WireMockServer(WireMockConfiguration.options().dynamicPort());
  private final List<URI> schedulers = new ArrayList<>();
  private final SchedulerLocator locator = new SchedulerLocator(() -> schedulers);
  private final PunctualHealthIndicator indicator =
      new PunctualHealthIndicator(locator, () -> null, () -> null);
  private SchedulerCalls calls;

  @BeforeEach
  void start() {
    scheduler.start();
    schedulers.add(URI.create(scheduler.baseUrl()));
    calls =
        new SchedulerCalls(
            locator, new Jackson3Json(), Duration.ofSeconds(10), null, builder -> {});
  }

  @AfterEach
  void stop() {
    calls.close();
    scheduler.stop();
  }

  @Test
  void nothingIsKnownBeforeTheFirstCall() {
    assertThat(health().getStatus()).isEqualTo(Status.UNKNOWN);
    schedulers.clear();
    assertThat(health().getStatus()).isEqualTo(Status.UNKNOWN);
  }

  @Test
  void aSchedulerThatAnswersIsUpAndTheLastAnswerIsTold() {
    scheduler.stubFor(any(anyUrl()).willReturn(okJson("{}")));
    calls.call("GET", "/", null);

    assertThat(health().getStatus()).isEqualTo(Status.UP);
    assertThat(health().getDetails()).containsKey("lastAnswer").containsEntry("schedulers", 1);
  }

  @Test
  void noAnswerIsAWarningAndNeverDownUntilOneComes() {
    scheduler.stubFor(any(anyUrl()).willReturn(serviceUnavailable()));
    assertThatExceptionOfType(SchedulerUnavailableException.class)
        .isThrownBy(() -> calls.call("GET", "/", null));

    assertThat(health().getStatus()).isEqualTo(PunctualHealthIndicator.WARNING);
    assertThat(health().getDetails()).containsEntry("error", "HTTP 503");

    schedulers.add(URI.create("http://127.0.0.1:1"));
    assertThat(health().getStatus()).as("one that nobody called yet").isEqualTo(Status.UNKNOWN);

    schedulers.remove(1);
    scheduler.stubFor(any(anyUrl()).willReturn(okJson("{}")));
    calls.call("GET", "/", null);
    assertThat(health().getStatus()).isEqualTo(Status.UP);
    assertThat(health().getDetails()).doesNotContainKey("error");
  }

  @Test
  void aFailedRegistrationIsAWarningWithItsRemedy() {
    InstanceRegistration registration = mock(InstanceRegistration.class);
    when(registration.error()).thenReturn("no scheduler is known");
    when(registration.remedy()).thenReturn("Set punctual.url.");

    Health health =
        Objects.requireNonNull(
            new PunctualHealthIndicator(locator, () -> registration, () -> null).health());

    assertThat(health.getStatus()).isEqualTo(PunctualHealthIndicator.WARNING);
    assertThat(health.getDetails())
        .containsEntry("registration", "no scheduler is known")
        .containsEntry("remedy", "Set punctual.url.");
  }

  private Health health() {
    return Objects.requireNonNull(indicator.health());
  }
}
