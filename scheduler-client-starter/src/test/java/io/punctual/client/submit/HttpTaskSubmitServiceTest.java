package io.punctual.client.submit;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.any;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.client.WireMock.equalToJson;
import static com.github.tomakehurst.wiremock.client.WireMock.postRequestedFor;
import static com.github.tomakehurst.wiremock.client.WireMock.urlEqualTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import com.github.tomakehurst.wiremock.http.Fault;
import io.punctual.CancelResult;
import io.punctual.DelayQueueJob;
import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
import io.punctual.RescheduleResult;
import io.punctual.RetryPolicy;
import io.punctual.SchedulerUnavailableException;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import io.punctual.client.ClientIdentity;
import io.punctual.client.PunctualClientProperties;
import io.punctual.client.tracing.JobTracing;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HttpTaskSubmitServiceTest {

  private static final String CREATED =
      """
      {"taskId":"1001","outcome":"created","dueAt":"1970-01-01T00:00:07Z","delayTime":7000}""";

  private final WireMockServer good = server();
  private final WireMockServer bad = server();

  @BeforeEach
  void start() {
    good.start();
    bad.start();
  }

  @AfterEach
  void stop() {
    good.stop();
    bad.stop();
  }

  @Test
  void aJobGoesOutAsTheApiWantsIt() {
    answer(good, 201, CREATED);

    SubmitResult result =
        service(good)
            .send(
                DelayQueueJob.of("order.close")
                    .taskId("1001")
                    .delay(Duration.ofMinutes(30))
                    .params("{\"a\":\"ä\"}")
                    .timeToRun(Duration.ofSeconds(5))
                    .retry(RetryPolicy.parse("1s,2m"))
                    .header("x", "y")
                    .build());

    assertThat(result.outcome()).isEqualTo(SubmitResult.Outcome.CREATED);
    assertThat(result.dueAt().toEpochMilli()).isEqualTo(7000);
    good.verify(
        postRequestedFor(urlEqualTo("/api/v1/jobs"))
            .withRequestBody(
                equalToJson(
                    """
                    {"application":"shop","taskType":"order.close","taskId":"1001",
                     "delay":1800000,"params":"{\\"a\\":\\"ä\\"}","timeToRun":5000,
                     "retry":"1s,2m","headers":{"x":"y"}}""")));
  }

  @Test
  void aConflictNamesTheFields() {
    answer(
        good,
        409,
        """
        {"code":"conflict","detail":"it differs","differing":["params","delay"]}""");

    assertThatThrownBy(() -> service(good).send(job()))
        .isInstanceOfSatisfying(
            JobConflictException.class,
            e -> assertThat(e.fields()).containsExactly("params", "delay"));
  }

  @Test
  void aRefusalSaysWhyAndIsNotRepeated() {
    answer(good, 400, "{\"code\":\"invalid\",\"detail\":\"taskId is wrong\"}");

    assertThatThrownBy(() -> service(good).send(job()))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("taskId is wrong");
    good.verify(1, postRequestedFor(anyUrl()));
  }

  @Test
  void anotherSchedulerIsTriedWhenOneIsBusyOrBreaks() {
    answer(good, 200, CREATED);
    bad.stubFor(any(anyUrl()).willReturn(aResponse().withStatus(503)));
    for (int i = 0; i < 5; i++) {
      assertThat(service(bad, good).send(job()).taskId()).isEqualTo("1001");
    }
    bad.stubFor(any(anyUrl()).willReturn(aResponse().withFault(Fault.CONNECTION_RESET_BY_PEER)));
    for (int i = 0; i < 5; i++) {
      assertThat(service(bad, good).send(job()).taskId()).isEqualTo("1001");
    }
    bad.stubFor(any(anyUrl()).willReturn(aResponse().withFixedDelay(3000)));
    assertThat(service(bad, good).send(job()).taskId()).isEqualTo("1001");
  }

  @Test
  void whenNobodyAnswersTheCallerIsToldThatItMayRepeat() {
    bad.stubFor(
        any(anyUrl()).willReturn(aResponse().withStatus(503).withHeader("Retry-After", "7")));

    assertThatThrownBy(() -> service(bad).send(job()))
        .isInstanceOfSatisfying(
            SchedulerUnavailableException.class,
            e -> assertThat(e.retryAfter()).isEqualTo(Duration.ofSeconds(7)))
        .hasMessageContaining("same task id");
    bad.verify(4, postRequestedFor(anyUrl()));
    assertThatThrownBy(() -> service().send(job()))
        .isInstanceOf(SchedulerUnavailableException.class)
        .hasMessageContaining("no scheduler is known");
  }

  @Test
  void aBatchKeepsItsOrderAndEveryJobHasItsOwnAnswer() {
    answer(
        good,
        200,
        """
        {"results":[%s,{"taskId":"b","status":409,
          "problem":{"code":"conflict","detail":"no","differing":["params"]}}]}"""
            .formatted(CREATED));

    var items = service(good).sendAll(List.of(job(), job()));

    assertThat(items.get(0).orThrow().taskId()).isEqualTo("1001");
    assertThat(items.get(1).accepted()).isFalse();
    assertThat(items.get(1).error()).isInstanceOf(JobConflictException.class);
  }

  @Test
  void cancelAndRescheduleTellTheTruth() {
    TaskSubmitService service = service(good);
    answer(good, 200, "{\"outcome\":\"cancelled\"}");
    assertThat(service.cancel("t", "1").cancelled()).isTrue();
    answer(good, 409, "{\"code\":\"wrong-state\",\"state\":\"reserved\",\"attempt\":3}");
    assertThat(service.cancel("t", "1"))
        .isEqualTo(new CancelResult(CancelResult.Outcome.IN_DELIVERY, 3));
    assertThat(service.reschedule("t", "1", Duration.ZERO).outcome())
        .isEqualTo(RescheduleResult.Outcome.IN_DELIVERY);
    answer(good, 409, "{\"code\":\"wrong-state\",\"state\":\"finished\"}");
    assertThat(service.cancel("t", "1").outcome()).isEqualTo(CancelResult.Outcome.FINISHED);
    answer(good, 404, "{\"code\":\"not-found\"}");
    assertThat(service.cancel("t", "1").outcome()).isEqualTo(CancelResult.Outcome.UNKNOWN);
    assertThatThrownBy(() -> service.cancel("t", "a/b")).isInstanceOf(InvalidJobException.class);
  }

  private static WireMockServer server() {
    return new WireMockServer(WireMockConfiguration.options().dynamicPort());
  }

  @Test
  void nobodyWaitsForASchedulerWhenTheApplicationEnds() throws Exception {
    SchedulerCalls calls =
        new SchedulerCalls(
            new SchedulerLocator(List::of),
            new PunctualClientProperties.Submit(Duration.ofSeconds(1), Duration.ofSeconds(1), 20),
            null,
            null);
    CompletableFuture<Throwable> told = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () -> told.complete(catchThrowable(() -> calls.call("GET", "/api/v1/queues", null))));
    caller.start();
    // Twenty rounds would take a minute.
    Awaitility.await().until(() -> caller.getState() == Thread.State.TIMED_WAITING);
    calls.close();

    assertThat(told.get(5, TimeUnit.SECONDS))
        .isInstanceOf(SchedulerUnavailableException.class)
        .hasMessageContaining("the application ends");
  }

  private static void answer(WireMockServer server, int status, String body) {
    server.stubFor(
        any(anyUrl())
            .willReturn(
                aResponse()
                    .withStatus(status)
                    .withHeader("Content-Type", "application/json")
                    .withBody(body)));
  }

  private static DelayQueueJob job() {
    return DelayQueueJob.of("order.close").delay(Duration.ofSeconds(1)).build();
  }

  private static TaskSubmitService service(WireMockServer... servers) {
    List<URI> uris =
        java.util.Arrays.stream(servers).map(server -> URI.create(server.baseUrl())).toList();
    return new HttpTaskSubmitService(
        new ClientIdentity("Shop"),
        new SchedulerCalls(
            new SchedulerLocator(() -> uris),
            new PunctualClientProperties.Submit(Duration.ofSeconds(1), Duration.ofSeconds(1), 4),
            null,
            null),
        JobTracing.NONE);
  }
}
