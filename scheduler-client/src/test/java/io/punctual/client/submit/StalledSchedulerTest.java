package io.punctual.client.submit;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.any;
import static com.github.tomakehurst.wiremock.client.WireMock.urlEqualTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import io.punctual.DelayQueueJob;
import io.punctual.SchedulerUnavailableException;
import io.punctual.SubmitResult;
import io.punctual.client.ClientIdentity;
import io.punctual.client.json.Jackson3Json;
import io.punctual.client.lease.RemoteLease;
import io.punctual.spi.JobScheduler;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every wait for a scheduler ends, also one for the rest of a body. */
@Timeout(60)
class StalledSchedulerTest {

  private static final int SENDERS = 20;

  private final StallingServer stalled = new StallingServer();
  private final WireMockServer healthy =
      new WireMockServer(WireMockConfiguration.options().dynamicPort());
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    threads.shutdownNow();
    healthy.stop();
    stalled.close();
  }

  private static SchedulerCalls calls(Duration timeout, URI... schedulers) {
    return new SchedulerCalls(
        new SchedulerLocator(() -> List.of(schedulers)),
        new Jackson3Json(),
        timeout,
        null,
        builder -> {});
  }

  private static JobScheduler scheduler(SchedulerCalls calls) {
    return new HttpJobScheduler(new ClientIdentity("shop"), calls);
  }

  private static DelayQueueJob job(int id) {
    return DelayQueueJob.of("t").taskId("j" + id).delay(Duration.ZERO).build();
  }

  @Test
  void sendsGoToTheHealthySchedulerWhenTheOtherOneStallsBehindItsHeaders() throws Exception {
    healthy.start();
    healthy.stubFor(
        any(urlEqualTo("/api/v1/jobs"))
            .willReturn(
                aResponse()
                    .withStatus(201)
                    .withBody("{\"taskId\":\"j\",\"outcome\":\"created\",\"delayTime\":7000}")));
    // Of groups: each job is then sent by itself.
    healthy.stubFor(any(urlEqualTo("/api/v1/jobs/batch")).willReturn(aResponse().withStatus(400)));
    JobScheduler scheduler =
        scheduler(calls(Duration.ofSeconds(15), stalled.address(), URI.create(healthy.baseUrl())));
    List<Future<SubmitResult>> sends = new ArrayList<>();
    // Which one is called first is random.
    while (stalled.answered() == 0) {
      Future<SubmitResult> send = threads.submit(() -> scheduler.submit(job(sends.size())));
      sends.add(send);
      Awaitility.await().until(() -> send.isDone() || stalled.answered() > 0);
    }
    for (int i = 0; i < SENDERS; i++) {
      int id = 1000 + i;
      sends.add(threads.submit(() -> scheduler.submit(job(id))));
    }

    for (Future<SubmitResult> send : sends) {
      assertThat(send.get(30, TimeUnit.SECONDS).outcome()).isEqualTo(SubmitResult.Outcome.CREATED);
    }
    // What was given up holds no connection.
    Awaitility.await().untilAsserted(() -> assertThat(stalled.open()).isZero());
  }

  @Test
  void allSendersAreToldWhenEverySchedulerStalls() {
    JobScheduler scheduler = scheduler(calls(Duration.ofSeconds(1), stalled.address()));
    List<Future<SubmitResult>> sends = new ArrayList<>();
    for (int i = 0; i < SENDERS; i++) {
      int id = i;
      sends.add(threads.submit(() -> scheduler.submit(job(id))));
    }

    for (Future<SubmitResult> send : sends) {
      assertThatThrownBy(() -> send.get(20, TimeUnit.SECONDS))
          .hasCauseInstanceOf(SchedulerUnavailableException.class);
    }
  }

  @Test
  void allOtherCallsEndToo() {
    SchedulerCalls calls = calls(Duration.ofSeconds(1), stalled.address());
    List<Runnable> waits =
        List.of(
            () -> calls.call("POST", "/api/v1/claims", List.of(), Duration.ofSeconds(2)),
            () -> calls.call("GET", "/api/v1/jobs/shop/t/1", null),
            () -> scheduler(calls).submitAll(List.of(job(1), job(2))),
            () -> scheduler(calls).cancel("t", "1"),
            () -> scheduler(calls).cancelByTag("a"),
            () -> scheduler(calls).find("t", "1"),
            () ->
                new RemoteLease(calls, "token", Duration.ofSeconds(5), more -> {})
                    .extend(Duration.ofSeconds(5)));

    List<Future<?>> ends = new ArrayList<>();
    waits.forEach(wait -> ends.add(threads.submit(wait)));

    for (Future<?> end : ends) {
      assertThatThrownBy(() -> end.get(20, TimeUnit.SECONDS))
          .hasCauseInstanceOf(SchedulerUnavailableException.class);
    }
    Awaitility.await().untilAsserted(() -> assertThat(stalled.open()).isZero());
  }

  @Test
  void anInterruptedCallHoldsNoConnection() throws Exception {
    SchedulerCalls calls = calls(Duration.ofSeconds(30), stalled.address());
    Future<?> call = threads.submit(() -> calls.call("GET", "/api/v1/queues", null));
    Awaitility.await().until(() -> stalled.answered() == 1);

    call.cancel(true);

    Awaitility.await().until(() -> stalled.open() == 0);
  }
}
