package io.punctual.client.observation;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.any;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.client.WireMock.postRequestedFor;
import static com.github.tomakehurst.wiremock.client.WireMock.urlEqualTo;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.tracing.Tracer;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import io.punctual.DelayQueueJob;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An application that traces, as Spring Boot sets it up: what it submits carries its trace, and
 * what it runs goes on with it; as a collector sees it. The calls on the application's own behalf
 * propagate their trace in another way, which is nothing to jobs.
 */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "spring.application.name=shop",
      "eureka.client.enabled=false",
      // The test calls it by another name.
      "punctual.registration=registry",
      "punctual.callback.accept-unsigned=true",
      // Spring Boot 3.5 exports no traces of tests otherwise.
      "spring.test.observability.auto-configure=true",
      "management.tracing.sampling.probability=1.0",
      "management.tracing.propagation.type=b3"
    })
class TracingIT {

  private static final JsonMapper JSON = new JsonMapper();
  private static final OtlpReceiver COLLECTOR = collector();
  private static final WireMockServer SCHEDULER =
      new WireMockServer(
          WireMockConfiguration.wireMockConfig().dynamicPort().bindAddress("127.0.0.1"));

  @Autowired Tracer tracer;
  @Autowired TaskSubmitService tasks;
  @Autowired MeterRegistry meters;
  @LocalServerPort int port;

  private static OtlpReceiver collector() {
    try {
      return new OtlpReceiver();
    } catch (IOException e) {
      throw new AssertionError("no port", e);
    }
  }

  @DynamicPropertySource
  static void addresses(DynamicPropertyRegistry registry) {
    SCHEDULER.start();
    SCHEDULER.stubFor(
        any(anyUrl())
            .willReturn(
                aResponse()
                    .withStatus(201)
                    .withHeader("Content-Type", "application/json")
                    .withBody(
                        """
                        {"taskId":"t","outcome":"created","dueAt":"1970-01-01T00:00:07Z",\
                        "delayTime":7000}""")));
    registry.add("punctual.url", SCHEDULER::baseUrl);
    registry.add("management.opentelemetry.tracing.export.otlp.endpoint", COLLECTOR::url);
  }

  @AfterAll
  static void stop() {
    SCHEDULER.stop();
    COLLECTOR.close();
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Shop {

    @Bean
    TaskWorker close(Tracer tracer) {
      return new TaskWorker() {
        @Override
        public String type() {
          return "order.close";
        }

        @Override
        public void invoke(String params) {
          // What the worker does is within its span.
          tracer.nextSpan().name("work").start().end();
          if (params.equals("fail")) {
            throw new IllegalStateException("as it was told");
          }
        }
      };
    }
  }

  @Test
  void theTraceOfTheSubmitGoesOnInTheWorkerAndARetryIsLinkedToIt() throws Exception {
    io.micrometer.tracing.Span submit = tracer.nextSpan().name("checkout").start();
    Tracer.SpanInScope scope = tracer.withSpan(submit);
    try {
      tasks.send(DelayQueueJob.of("order.close").taskId("t").delay(Duration.ofDays(1)).build());
    } finally {
      scope.close();
      submit.end();
    }
    String trace = submitted().at("/headers/traceparent").asString();
    Span send = await(span -> span.getName().equals("send order.close"));
    assertThat(send.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_PRODUCER);
    assertThat(hex(send.getTraceId().toByteArray())).isEqualTo(submit.context().traceId());
    assertThat(hex(send.getParentSpanId().toByteArray())).isEqualTo(submit.context().spanId());
    assertThat(attributes(send))
        .containsEntry("messaging.system", "punctual")
        .containsEntry("messaging.destination.name", "order.close")
        .containsEntry("messaging.message.id", "t")
        .containsEntry("outcome", "created");
    String sent = hex(send.getSpanId().toByteArray());
    assertThat(trace).isEqualTo("00-" + submit.context().traceId() + "-" + sent + "-01");

    call(trace, 1, "fail");
    call(trace, 2, "");

    Span first = attempt(1);
    Span second = attempt(2);
    for (Span span : List.of(first, second)) {
      assertThat(span.getName()).isEqualTo("process order.close");
      assertThat(span.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_CONSUMER);
      assertThat(hex(span.getTraceId().toByteArray())).isEqualTo(submit.context().traceId());
      assertThat(span.getParentSpanId()).isEqualTo(send.getSpanId());
      assertThat(attributes(span))
          .containsEntry("messaging.system", "punctual")
          .containsEntry("messaging.operation.type", "process")
          .containsEntry("messaging.operation.name", "process")
          .containsEntry("messaging.destination.name", "order.close")
          .containsEntry("messaging.message.id", "t")
          .containsEntry("delivery", "push");
      Span work =
          await(
              one ->
                  one.getName().equals("work") && one.getParentSpanId().equals(span.getSpanId()));
      assertThat(work.getTraceId()).isEqualTo(span.getTraceId());
    }
    assertThat(first.getStatus().getCode()).isEqualTo(Status.StatusCode.STATUS_CODE_ERROR);
    assertThat(second.getStatus().getCode()).isNotEqualTo(Status.StatusCode.STATUS_CODE_ERROR);
    assertThat(first.getLinksList()).isEmpty();
    assertThat(second.getLinksList()).hasSize(1);
    assertThat(second.getLinks(0).getSpanId()).isEqualTo(send.getSpanId());
    // The same as figures, without what is different for each job.
    assertThat(
            meters
                .get("punctual.client.invoke")
                .tags("task.type", "order.close", "delivery", "push", "outcome", "failed")
                .tag("error", "IllegalStateException")
                .timer()
                .count())
        .isEqualTo(1);
    assertThat(
            meters
                .get("punctual.client.submit")
                .tags("task.type", "order.close", "outcome", "created", "error", "none")
                .timer()
                .getId()
                .getTags())
        .hasSize(3);
  }

  private static Span attempt(int number) {
    return await(
        span ->
            span.getAttributesList().stream()
                .anyMatch(
                    attribute ->
                        attribute.getKey().equals("punctual.attempt")
                            && attribute.getValue().getStringValue().equals("" + number)));
  }

  private static Map<String, String> attributes(Span span) {
    return span.getAttributesList().stream()
        .collect(
            Collectors.toMap(KeyValue::getKey, attribute -> attribute.getValue().getStringValue()));
  }

  private static Span await(Predicate<Span> wanted) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> COLLECTOR.spans().stream().anyMatch(wanted));
    return COLLECTOR.spans().stream().filter(wanted).findFirst().orElseThrow();
  }

  private static JsonNode submitted() throws Exception {
    return JSON.readTree(
        SCHEDULER.findAll(postRequestedFor(urlEqualTo("/api/v1/jobs"))).get(0).getBodyAsString());
  }

  private void call(String trace, int attempt, String params) throws Exception {
    String body =
        """
        {"application":"shop","instance":"i","jobs":[{"taskId":"t","taskType":"order.close",\
        "incarnation":"i1","attempt":%d,"version":%d,"claimedAt":%d,"dueTime":1,\
        "timeToRun":5000,"params":"%s",\
        "headers":{"traceparent":"%s"}}]}"""
            .formatted(attempt, 1 + attempt, attempt, params, trace);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/punctual/callback"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    assertThat(
            HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .statusCode())
        .isEqualTo(200);
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
