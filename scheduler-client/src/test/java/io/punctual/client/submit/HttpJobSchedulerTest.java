package io.punctual.client.submit;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.any;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.client.WireMock.equalTo;
import static com.github.tomakehurst.wiremock.client.WireMock.equalToJson;
import static com.github.tomakehurst.wiremock.client.WireMock.matchingJsonPath;
import static com.github.tomakehurst.wiremock.client.WireMock.moreThan;
import static com.github.tomakehurst.wiremock.client.WireMock.okJson;
import static com.github.tomakehurst.wiremock.client.WireMock.post;
import static com.github.tomakehurst.wiremock.client.WireMock.postRequestedFor;
import static com.github.tomakehurst.wiremock.client.WireMock.putRequestedFor;
import static com.github.tomakehurst.wiremock.client.WireMock.urlEqualTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import com.github.tomakehurst.wiremock.http.Fault;
import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
import io.punctual.JobInfo;
import io.punctual.PunctualException;
import io.punctual.RequeueResult;
import io.punctual.RescheduleResult;
import io.punctual.RetryPolicy;
import io.punctual.SchedulerUnavailableException;
import io.punctual.SubmitResult;
import io.punctual.TagCancelResult;
import io.punctual.TaskSubmitService.RestoreResult;
import io.punctual.client.ClientIdentity;
import io.punctual.client.json.Jackson3Json;
import io.punctual.conflict.OnConflict;
import io.punctual.internal.AttemptToken;
import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.Schedule;
import io.punctual.schedule.ScheduleResult;
import io.punctual.schedule.WhileRunning;
import io.punctual.spi.JobScheduler;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HttpJobSchedulerTest {

  private static final String CREATED =
      """
      {"taskId":"1001","outcome":"created","dueAt":"1970-01-01T00:00:07Z","delayTime":7000}\
      """;

  private static final Duration SHORT = Duration.ofSeconds(2);

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
  void resultsNameWhereTheChangeWas() {
    good.stubFor(
        any(anyUrl())
            .willReturn(
                aResponse()
                    .withStatus(200)
                    .withHeader("Content-Type", "application/json")
                    .withHeader("Punctual-Durability", "replicated:1")
                    .withBody(CREATED.replace("created", "already_there"))));

    assertThat(service(good).submit(job()).durability()).isEqualTo("replicated:1");
    assertThat(service(good).cancel("t", "1001").durability()).isEqualTo("replicated:1");
    assertThat(service(good).reschedule("t", "1001", Duration.ZERO).durability())
        .isEqualTo("replicated:1");
  }

  @Test
  void aJobGoesOutAsTheApiWantsIt() {
    answer(good, 201, CREATED);

    SubmitResult result =
        service(good)
            .submit(
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
                     "retry":"1s,2m","headers":{"x":"y"}}\
                    """)));
  }

  @Test
  void whatToDoIfAJobIsThereGoesOutInTheQuery() {
    answer(good, 200, CREATED.replace("created", "merged"));
    DelayQueueJob job = DelayQueueJob.of("t").taskId("1001").delay(Duration.ofSeconds(5)).build();
    OnConflict debounce = OnConflict.debounce(Duration.ofMinutes(1), OnConflict.Keep.FIRST);

    SubmitResult result = service(good).submit(job.toBuilder().onConflict(debounce).build());

    assertThat(result.outcome()).isEqualTo(SubmitResult.Outcome.MERGED);
    good.verify(
        postRequestedFor(
                urlEqualTo("/api/v1/jobs?onConflict=debounce&quiet=5000&atMost=60000&keep=first"))
            .withRequestBody(
                equalToJson("{\"application\":\"shop\",\"taskType\":\"t\",\"taskId\":\"1001\"}")));
    OnConflict one = OnConflict.whileRunning(OnConflict.WhileRunning.QUEUE_ONE);
    service(good).submit(job.toBuilder().onConflict(one).build());
    good.verify(postRequestedFor(urlEqualTo("/api/v1/jobs?whileRunning=queue_one")));
    service(good).submit(job.toBuilder().onConflict(OnConflict.REPLACE).build());
    good.verify(postRequestedFor(urlEqualTo("/api/v1/jobs?onConflict=replace")));
  }

  @Test
  void aJobThatCannotBeReplacedIsAConflict() {
    answer(good, 409, "{\"code\":\"wrong-state\",\"state\":\"reserved\",\"detail\":\"it runs\"}");

    assertThatThrownBy(() -> service(good).submit(job()))
        .isInstanceOf(JobConflictException.class)
        .hasMessageContaining("it runs");
  }

  @Test
  void aCallForManyJobsIsOneRequestForThoseThatWantTheSame() {
    answer(
        good,
        200,
        "{\"results\":[{\"status\":201,\"outcome\":\"created\",\"delayTime\":1},"
            + "{\"status\":201,\"outcome\":\"created\",\"delayTime\":1}]}");
    DelayQueueJob plain = DelayQueueJob.of("t").taskId("1001").delay(Duration.ZERO).build();
    DelayQueueJob replacing = plain.toBuilder().onConflict(OnConflict.REPLACE).build();

    assertThat(service(good).submitAll(List.of(plain, plain, replacing, replacing, plain, plain)))
        .hasSize(6);
    assertThat(good.getAllServeEvents())
        .extracting(event -> event.getRequest().getUrl())
        .containsExactly(
            "/api/v1/jobs/batch", "/api/v1/jobs/batch?onConflict=replace", "/api/v1/jobs/batch");
  }

  @Test
  void aScheduleGoesOutAsTheApiWantsIt() {
    answer(good, 200, "{\"outcome\":\"replaced\",\"nextAt\":\"2027-01-01T08:00:00Z\"}");

    ScheduleResult result =
        service(good)
            .put(
                Schedule.of("report.daily", "tenant:7")
                    .cron("0 9 * * *", ZoneId.of("Europe/Berlin"))
                    .gap(Gap.SKIP)
                    .fold(Fold.BOTH)
                    .from(Instant.ofEpochSecond(7))
                    .exclude(LocalDate.of(2027, 12, 24))
                    .exclude("de-BY")
                    .missed(Missed.LATEST, Duration.ofHours(2))
                    .whileRunning(WhileRunning.QUEUE)
                    .jitter(Duration.ofSeconds(5))
                    .params("p")
                    .timeToRun(Duration.ofSeconds(9))
                    .retry("1s,2m")
                    .header("x", "y")
                    .tag("t")
                    .build());

    assertThat(result)
        .isEqualTo(
            new ScheduleResult(
                ScheduleResult.Outcome.REPLACED, Instant.parse("2027-01-01T08:00:00Z")));
    good.verify(
        putRequestedFor(urlEqualTo("/api/v1/schedules/shop/report.daily/tenant:7"))
            .withRequestBody(
                equalToJson(
                    """
                    {"cron":"0 9 * * *","zone":"Europe/Berlin","gap":"skip","fold":"both",
                     "from":"1970-01-01T00:00:07Z","exclude":["2027-12-24","de-BY"],"missed":"latest",
                     "missedWithin":7200000,"whileRunning":"queue","jitter":5000,"params":"p",
                     "timeToRun":9000,"retry":"1s,2m","headers":{"x":"y"},"tags":["t"]}\
                    """)));

    answer(good, 200, "{\"outcome\":\"unchanged\",\"nextAt\":null}");
    assertThat(
            service(good)
                .put(Schedule.of("t", "e").every(Duration.ofMinutes(5), Instant.EPOCH).build())
                .nextAt())
        .isNull();
    good.verify(
        putRequestedFor(urlEqualTo("/api/v1/schedules/shop/t/e"))
            .withRequestBody(
                equalToJson(
                    "{\"every\":300000,\"anchor\":\"1970-01-01T00:00:00Z\",\"params\":\"\"}")));

    answer(good, 200, "{\"outcome\":\"deleted\"}");
    assertThat(service(good).deleteSchedule("t", "e")).isTrue();
    service(good).declareSchedules(List.of("t"));
    good.verify(
        postRequestedFor(urlEqualTo("/api/v1/schedules/declare"))
            .withRequestBody(equalToJson("{\"application\":\"shop\",\"taskTypes\":[\"t\"]}")));
    answer(good, 404, "{\"code\":\"not-found\"}");
    assertThat(service(good).deleteSchedule("t", "e")).isFalse();
  }

  @Test
  void aJobThatWasLeftToUsIsEndedByItsHandle() {
    String handle = handle("shop");
    JobScheduler scheduler = service(good);

    answer(good, 200, "{\"outcome\":\"done\"}");
    assertThat(scheduler.finish(handle)).isEqualTo(outcome(DeferralResult.Outcome.DONE));
    answer(good, 200, "{\"outcome\":\"already_done\"}");
    assertThat(scheduler.finish(handle)).isEqualTo(outcome(DeferralResult.Outcome.ALREADY_DONE));
    answer(good, 404, "{\"code\":\"not-found\"}");
    assertThat(scheduler.finish(handle)).isEqualTo(outcome(DeferralResult.Outcome.UNKNOWN));
    answer(good, 200, "{\"outcome\":\"retry\",\"dueAt\":\"1970-01-01T00:00:07Z\"}");
    assertThat(scheduler.fail(handle, "no", Duration.ofSeconds(7)))
        .isEqualTo(new DeferralResult(DeferralResult.Outcome.RETRY, Instant.ofEpochSecond(7)));
    answer(good, 200, "{\"outcome\":\"dead\"}");
    assertThat(scheduler.fail(handle, "no", null)).isEqualTo(outcome(DeferralResult.Outcome.DEAD));
    assertThat(scheduler.reject(handle, "never")).isEqualTo(outcome(DeferralResult.Outcome.DEAD));
    answer(good, 200, "{\"outcome\":\"extended\",\"until\":\"1970-01-01T00:00:07Z\"}");
    assertThat(scheduler.extend(handle, Duration.ofMinutes(1)))
        .isEqualTo(new DeferralResult(DeferralResult.Outcome.EXTENDED, Instant.ofEpochSecond(7)));
    answer(good, 409, "{\"code\":\"lease-lost\"}");
    assertThat(scheduler.extend(handle, Duration.ofMinutes(1)))
        .isEqualTo(outcome(DeferralResult.Outcome.LEASE_LOST));

    String claim = "/api/v1/claims/" + handle;
    good.verify(3, postRequestedFor(urlEqualTo(claim + "/ack")));
    good.verify(
        postRequestedFor(urlEqualTo(claim + "/nack"))
            .withRequestBody(equalToJson("{\"error\":\"no\",\"delay\":7000}")));
    good.verify(
        postRequestedFor(urlEqualTo(claim + "/nack"))
            .withRequestBody(equalToJson("{\"error\":\"no\"}")));
    good.verify(
        postRequestedFor(urlEqualTo(claim + "/reject"))
            .withRequestBody(equalToJson("{\"error\":\"never\"}")));
    good.verify(
        2,
        postRequestedFor(urlEqualTo(claim + "/extend"))
            .withRequestBody(equalToJson("{\"timeToRun\":60000}")));
  }

  @Test
  void whatIsNoHandleOfOursIsRefusedBeforeAnybodyIsAsked() {
    for (String wrong : List.of("", "nonsense", "../jobs", "a".repeat(2000))) {
      assertThatThrownBy(() -> service(good).finish(wrong))
          .isInstanceOf(InvalidJobException.class)
          .hasMessageContaining("TaskContext.defer");
    }
    assertThatThrownBy(() -> service(good).finish(handle("bank")))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("of the application bank");
    assertThat(good.getAllServeEvents()).isEmpty();
  }

  private static String handle(String application) {
    return new AttemptToken(application, "order.close", "1001", "abc", "lease").text();
  }

  private static DeferralResult outcome(DeferralResult.Outcome outcome) {
    return new DeferralResult(outcome, null);
  }

  @Test
  void aConflictNamesTheFields() {
    answer(
        good,
        409,
        """
        {"code":"conflict","detail":"it differs","differing":["params","delay"]}\
        """);

    assertThatThrownBy(() -> service(good).submit(job()))
        .isInstanceOfSatisfying(
            JobConflictException.class,
            e -> assertThat(e.fields()).containsExactly("params", "delay"));
  }

  @Test
  void aRefusalSaysWhyAndIsNotRepeated() {
    answer(good, 400, "{\"code\":\"invalid\",\"detail\":\"taskId is wrong\"}");

    assertThatThrownBy(() -> service(good).submit(job()))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("taskId is wrong")
        .isInstanceOfSatisfying(
            InvalidJobException.class, e -> assertThat(e.isTransient()).isFalse());

    answer(good, 413, "{\"code\":\"too-large\",\"detail\":\"params is too large\"}");
    assertThatThrownBy(() -> service(good).submit(job()))
        .isInstanceOfSatisfying(
            InvalidJobException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.TOO_LARGE));
    good.verify(2, postRequestedFor(anyUrl()));
  }

  @Test
  void anotherSchedulerIsTriedWhenOneIsBusyOrBreaks() {
    answer(good, 200, CREATED);
    bad.stubFor(any(anyUrl()).willReturn(aResponse().withStatus(503)));
    for (int i = 0; i < 5; i++) {
      assertThat(service(bad, good).submit(job()).outcome())
          .isEqualTo(SubmitResult.Outcome.CREATED);
    }
    bad.stubFor(any(anyUrl()).willReturn(aResponse().withFault(Fault.CONNECTION_RESET_BY_PEER)));
    for (int i = 0; i < 5; i++) {
      assertThat(service(bad, good).submit(job()).outcome())
          .isEqualTo(SubmitResult.Outcome.CREATED);
    }
    bad.stubFor(any(anyUrl()).willReturn(aResponse().withFixedDelay(3000)));
    assertThat(service(Duration.ofSeconds(2), bad, good).submit(job()).outcome())
        .isEqualTo(SubmitResult.Outcome.CREATED);
  }

  @Test
  void aCallThatIsNotAnsweredMayHaveTakenEffect() {
    bad.stubFor(
        any(anyUrl())
            .willReturn(
                aResponse()
                    .withStatus(503)
                    .withHeader("Retry-After", "7")
                    .withBody("{\"detail\":\"Redis does not answer\"}")));

    assertThatThrownBy(() -> service(SHORT, bad).submit(job()))
        .isInstanceOfSatisfying(
            SchedulerUnavailableException.class,
            e -> {
              assertThat(e.retryAfter()).isEqualTo(Duration.ofSeconds(7));
              assertThat(e.isTransient()).isTrue();
              assertThat(e.mayHaveTakenEffect()).isTrue();
            })
        .hasMessage(
            "No scheduler answered: "
                + bad.baseUrl()
                + " (HTTP 503: Redis does not answer). The call may have taken effect: repeat it"
                + " with the same task id.");
    bad.verify(moreThan(1), postRequestedFor(anyUrl()));
  }

  @Test
  void whereOneOfManyMayHaveTakenTheCallItMayHaveTakenEffect() {
    bad.stubFor(any(anyUrl()).willReturn(aResponse().withFault(Fault.EMPTY_RESPONSE)));
    String away = good.baseUrl();
    good.stop();

    assertThatThrownBy(
            () -> service(SHORT, URI.create(away), URI.create(bad.baseUrl())).submit(job()))
        .hasMessageContaining(away + " (connection refused)")
        .hasMessageContaining(bad.baseUrl() + " (IOException: ")
        .hasMessageEndingWith("repeat it with the same task id.")
        .isInstanceOfSatisfying(
            SchedulerUnavailableException.class, e -> assertThat(e.mayHaveTakenEffect()).isTrue());
  }

  @Test
  void nothingWasSentWhereNoSchedulerAcceptsConnections() {
    String away = good.baseUrl();
    good.stop();

    assertThatThrownBy(() -> service(SHORT, URI.create(away)).submit(job()))
        .hasMessage(
            "Nothing was sent: no scheduler accepts connections: "
                + away
                + " (connection refused). Start the scheduler, or correct punctual.url.")
        .isInstanceOfSatisfying(
            SchedulerUnavailableException.class, e -> assertThat(e.mayHaveTakenEffect()).isFalse());
    assertThatThrownBy(
            () -> service(SHORT, URI.create("http://punctual.invalid:8080")).submit(job()))
        .hasMessageContaining("http://punctual.invalid:8080 (unknown host)");
  }

  @Test
  void anInvalidAddressIsNamedWithoutItsPassword() {
    assertThatThrownBy(
            () -> service(SHORT, URI.create("http://user:secret@my_host:8080")).submit(job()))
        .isInstanceOf(SchedulerUnavailableException.class)
        .hasMessageContaining("Nothing was sent")
        .hasMessageContaining("http://***@my_host:8080 (its host has an underscore")
        .hasMessageContaining("correct punctual.url")
        .satisfies(e -> assertThat(e).hasStackTraceContaining("underscore"))
        .message()
        .doesNotContain("secret");
  }

  @Test
  void nothingWasSentWhereNoSchedulerIsKnown() {
    assertThatThrownBy(() -> service(SHORT, new URI[0]).submit(job()))
        .hasMessage(
            "Nothing was sent: no scheduler is known: punctual.url names none. Set"
                + " punctual.url to the address of a scheduler.")
        .isInstanceOfSatisfying(
            SchedulerUnavailableException.class, e -> assertThat(e.mayHaveTakenEffect()).isFalse());
  }

  @Test
  void aRegistryThatCannotBeReadIsASchedulerThatIsUnavailable() {
    IllegalStateException failure = new IllegalStateException("the agent is away");
    SchedulerCalls calls =
        new SchedulerCalls(
            new SchedulerLocator(
                () -> {
                  throw failure;
                }),
            new Jackson3Json(),
            SHORT,
            null,
            builder -> {});

    assertThatThrownBy(() -> new HttpJobScheduler(new ClientIdentity("shop"), calls).submit(job()))
        .isInstanceOfSatisfying(
            SchedulerUnavailableException.class, e -> assertThat(e.mayHaveTakenEffect()).isFalse())
        .hasMessageContaining("cannot be read: java.lang.IllegalStateException: the agent is away")
        .hasCause(failure);
  }

  @Test
  void nothingWasChangedWhereEverySchedulerHasTooMuchToDo() {
    bad.stubFor(
        any(anyUrl())
            .willReturn(
                aResponse()
                    .withStatus(429)
                    .withHeader("Retry-After", "3")
                    .withBody("{\"detail\":\"shop has 1000 waiting jobs\"}")));

    assertThatThrownBy(() -> service(SHORT, bad).submit(job()))
        .hasMessage(
            "Nothing was changed: the schedulers refuse the call: "
                + bad.baseUrl()
                + " (HTTP 429: shop has 1000 waiting jobs). Repeat it in 3 s.")
        .isInstanceOfSatisfying(
            SchedulerUnavailableException.class, e -> assertThat(e.mayHaveTakenEffect()).isFalse());
  }

  @Test
  void aBatchKeepsItsOrderAndEveryJobHasItsOwnAnswer() {
    answer(
        good,
        200,
        """
        {"results":[%s,{"taskId":"b","status":409,
          "problem":{"code":"conflict","detail":"no","differing":["params"]}}]}\
        """
            .formatted(CREATED));

    var items = service(good).submitAll(List.of(job(), job()));

    assertThat(items.get(0).orThrow().outcome()).isEqualTo(SubmitResult.Outcome.CREATED);
    assertThat(items.get(1).accepted()).isFalse();
    assertThat(items.get(1).error()).isInstanceOf(JobConflictException.class);
  }

  @Test
  void cancelAndRescheduleTellTheTruth() {
    JobScheduler service = service(good);
    answer(good, 200, "{\"outcome\":\"cancelled\"}");
    assertThat(service.cancel("t", "1").cancelled()).isTrue();
    answer(good, 409, "{\"code\":\"wrong-state\",\"state\":\"reserved\",\"attempt\":3}");
    assertThat(service.cancel("t", "1"))
        .isEqualTo(new CancelResult(CancelResult.Outcome.IN_DELIVERY, 3, 0, ""));
    assertThat(service.reschedule("t", "1", Duration.ZERO).outcome())
        .isEqualTo(RescheduleResult.Outcome.IN_DELIVERY);
    answer(good, 409, "{\"code\":\"wrong-state\",\"state\":\"finished\"}");
    assertThat(service.cancel("t", "1").outcome()).isEqualTo(CancelResult.Outcome.FINISHED);
    answer(good, 404, "{\"code\":\"not-found\"}");
    assertThat(service.cancel("t", "1").outcome()).isEqualTo(CancelResult.Outcome.UNKNOWN);
    assertThatThrownBy(() -> service.cancel("t", "a/b")).isInstanceOf(InvalidJobException.class);
  }

  @Test
  void aTagIsCancelledPageByPageAndEachJobHasItsOutcome() {
    good.stubFor(
        post(urlEqualTo("/api/v1/jobs:cancel"))
            .willReturn(
                okJson(
                    """
                    {"items":[{"taskType":"order.close","taskId":"1","outcome":"cancelled"},
                      {"taskType":"mail","taskId":"2","outcome":"in_delivery"}],
                     "nextCursor":"more"}\
                    """)));
    good.stubFor(
        post(urlEqualTo("/api/v1/jobs:cancel"))
            .withRequestBody(matchingJsonPath("$.cursor", equalTo("more")))
            .willReturn(
                okJson(
                    """
                    {"items":[{"taskType":"mail","taskId":"3","outcome":"dead"}],
                     "nextCursor":null}\
                    """)));

    TagCancelResult result = service(good).cancelByTag("order:4711");

    assertThat(result.items())
        .containsExactly(
            new TagCancelResult.Item("order.close", "1", CancelResult.Outcome.CANCELLED),
            new TagCancelResult.Item("mail", "2", CancelResult.Outcome.IN_DELIVERY),
            new TagCancelResult.Item("mail", "3", CancelResult.Outcome.DEAD));
    assertThat(result.cancelled()).isEqualTo(1);
    good.verify(
        postRequestedFor(urlEqualTo("/api/v1/jobs:cancel"))
            .withRequestBody(equalToJson("{\"application\":\"shop\",\"tag\":\"order:4711\"}")));
    assertThatThrownBy(() -> service(good).cancelByTag("a b"))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("tag must be");
  }

  @Test
  void aJobIsFoundInEachOfItsStates() {
    JobScheduler service = service(good);
    answer(
        good,
        200,
        """
        {"taskType":"t","taskId":"1","state":"delayed","version":4,
         "dueAt":"2030-01-01T00:00:00Z","attempts":{"counted":2,"max":10},"params":"p",
         "headers":{"a":"b"},"tags":["x"],"lastError":{"message":"not yet"}}\
        """);
    assertThat(service.find("t", "1"))
        .hasValue(
            new JobInfo(
                "t",
                "1",
                JobInfo.State.DELAYED,
                Instant.parse("2030-01-01T00:00:00Z"),
                4,
                2,
                10,
                "p",
                Map.of("a", "b"),
                List.of("x"),
                "not yet",
                null));
    assertThat(at("\"reserved\",\"lease\":{\"until\":")).isEqualTo(JobInfo.State.RESERVED);
    assertThat(at("\"dead\",\"diedAt\":")).isEqualTo(JobInfo.State.DEAD);
    assertThat(at("\"finished\",\"finishedAt\":")).isEqualTo(JobInfo.State.FINISHED);
    assertThat(at("\"cancelled\",\"cancelledAt\":")).isEqualTo(JobInfo.State.CANCELLED);
    answer(good, 404, "{\"code\":\"not-found\"}");
    assertThat(service.find("t", "1")).isEmpty();
  }

  @Test
  void aCancelIsUndone() {
    answer(
        good,
        200,
        """
        {"taskType":"t","taskId":"1","state":"cancelled","cancelledAt":"2030-01-01T00:00:00Z",
         "restorableUntil":"2030-01-01T00:10:00Z"}\
        """);
    assertThat(service(good).find("t", "1").orElseThrow().restorableUntil())
        .isEqualTo(Instant.parse("2030-01-01T00:10:00Z"));
    answer(
        good, 200, "{\"outcome\":\"restored\",\"dueAt\":\"2030-01-01T00:00:00Z\",\"version\":3}");
    RestoreResult restored = service(good).restore("t", "1");
    assertThat(restored.restored()).isTrue();
    assertThat(restored.dueAt()).isEqualTo(Instant.parse("2030-01-01T00:00:00Z"));
    assertThat(restored.version()).isEqualTo(3);
    answer(good, 409, "{\"code\":\"wrong-state\",\"state\":\"cancelled\"}");
    assertThat(undone()).isEqualTo(RestoreResult.Outcome.NOT_KEPT);
    answer(good, 409, "{\"code\":\"wrong-state\",\"state\":\"finished\"}");
    assertThat(undone()).isEqualTo(RestoreResult.Outcome.FINISHED);
    answer(good, 409, "{\"code\":\"wrong-state\",\"state\":\"delayed\"}");
    assertThat(undone()).isEqualTo(RestoreResult.Outcome.EXISTS);
    answer(good, 404, "{\"code\":\"not-found\"}");
    assertThat(undone()).isEqualTo(RestoreResult.Outcome.UNKNOWN);
  }

  private RestoreResult.Outcome undone() {
    return service(good).restore("t", "1").outcome();
  }

  @Test
  void deadLettersAreListedAndRequeued() {
    answer(
        good,
        200,
        """
        {"items":[{"taskType":"t","taskId":"1","state":"dead","diedAt":"2030-01-01T00:00:00Z",
          "attempts":{"counted":2,"max":10},"lastError":{"message":"no money"}}],
         "nextCursor":"more"}\
        """);
    assertThat(service(good).deadLetters("t", 200))
        .singleElement()
        .satisfies(
            job -> {
              assertThat(job.state()).isEqualTo(JobInfo.State.DEAD);
              assertThat(job.lastError()).isEqualTo("no money");
              assertThat(job.params()).isNull();
            });
    assertThatThrownBy(() -> service(good).deadLetters("t", 0))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("max must be between 1 and 200, but was 0");
    assertThatThrownBy(() -> service(good).deadLetters("a b", 1))
        .isInstanceOf(InvalidJobException.class);

    answer(good, 200, "{\"outcome\":\"requeued\"}");
    assertThat(service(good).requeue("t", "1").requeued()).isTrue();
    answer(good, 409, "{\"code\":\"wrong-state\",\"state\":\"delayed\"}");
    assertThat(service(good).requeue("t", "1").outcome()).isEqualTo(RequeueResult.Outcome.NOT_DEAD);
    answer(good, 404, "{\"code\":\"not-found\"}");
    assertThat(service(good).requeue("t", "1").outcome()).isEqualTo(RequeueResult.Outcome.UNKNOWN);
  }

  @Test
  void jobsOfDamagedQueuesAreNotPassedOverInSilence() {
    answer(
        good,
        200,
        """
        {"items":[{"taskType":"a","taskId":"1","outcome":"cancelled"},
                  {"taskType":"b","taskId":"2","outcome":"damaged"}],
         "nextCursor":null,"damaged":["c"]}\
        """);
    assertThatThrownBy(() -> service(good).cancelByTag("x"))
        .isInstanceOf(PunctualException.class)
        .hasMessageContaining("were not cancelled: b, c. All others were");
  }

  private JobInfo.State at(String state) {
    answer(
        good,
        200,
        "{\"taskType\":\"t\",\"taskId\":\"1\",\"state\":"
            + state
            + "\"2030-01-01T00:00:00Z\""
            + (state.contains("lease") ? "}}" : "}"));
    JobInfo found = service(good).find("t", "1").orElseThrow();
    assertThat(found.at()).isEqualTo(Instant.parse("2030-01-01T00:00:00Z"));
    assertThat(found.attempts()).as("not in the answer, and not 0").isNull();
    assertThat(found.maxAttempts()).isNull();
    return found.state();
  }

  private static WireMockServer server() {
    return new WireMockServer(WireMockConfiguration.options().dynamicPort());
  }

  @Test
  void nobodyWaitsForASchedulerWhenTheApplicationEnds() throws Exception {
    SchedulerCalls calls =
        new SchedulerCalls(
            new SchedulerLocator(List::of),
            new Jackson3Json(),
            Duration.ofMinutes(1),
            null,
            builder -> {});
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
        .hasMessage("The application ends. Nothing was sent.");
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

  private static JobScheduler service(WireMockServer... servers) {
    return service(Duration.ofSeconds(30), servers);
  }

  /** Which waits for an answer for so long. */
  private static JobScheduler service(Duration patience, WireMockServer... servers) {
    return service(
        patience,
        Arrays.stream(servers).map(server -> URI.create(server.baseUrl())).toArray(URI[]::new));
  }

  private static JobScheduler service(Duration patience, URI... schedulers) {
    return new HttpJobScheduler(
        new ClientIdentity("Shop"),
        new SchedulerCalls(
            new SchedulerLocator(() -> List.of(schedulers)),
            new Jackson3Json(),
            patience,
            null,
            builder -> {}));
  }
}
