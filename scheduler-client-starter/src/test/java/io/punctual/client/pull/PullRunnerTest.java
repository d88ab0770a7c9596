package io.punctual.client.pull;

import static com.github.tomakehurst.wiremock.client.WireMock.equalToJson;
import static com.github.tomakehurst.wiremock.client.WireMock.jsonResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.matchingJsonPath;
import static com.github.tomakehurst.wiremock.client.WireMock.noContent;
import static com.github.tomakehurst.wiremock.client.WireMock.okJson;
import static com.github.tomakehurst.wiremock.client.WireMock.post;
import static com.github.tomakehurst.wiremock.client.WireMock.postRequestedFor;
import static com.github.tomakehurst.wiremock.client.WireMock.urlEqualTo;
import static com.github.tomakehurst.wiremock.client.WireMock.urlMatching;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.client.ResponseDefinitionBuilder;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import com.github.tomakehurst.wiremock.extension.ResponseDefinitionTransformerV2;
import com.github.tomakehurst.wiremock.http.ResponseDefinition;
import com.github.tomakehurst.wiremock.stubbing.Scenario;
import com.github.tomakehurst.wiremock.stubbing.ServeEvent;
import io.punctual.DelayedTask;
import io.punctual.TaskContext;
import io.punctual.TaskWorker;
import io.punctual.client.ClientIdentity;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.client.PunctualClientAutoConfiguration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.json.JsonMapper;

/**
 * Pulling, where only a scheduler that is played can show it; the rest is in the system's tests.
 */
class PullRunnerTest {

  private static final String CLAIMS = "/api/v1/claims";
  private static final String LEAVE = CLAIMS + ":leave";
  private static final JsonMapper JSON = new JsonMapper();

  private final UntilLeave untilLeave = new UntilLeave();
  private final WireMockServer scheduler =
      new WireMockServer(WireMockConfiguration.options().dynamicPort().extensions(untilLeave));
  private final List<PullRunner> runners = new ArrayList<>();
  private final Queue<String> ran = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void start() {
    scheduler.start();
    scheduler.stubFor(
        post(urlEqualTo(CLAIMS)).willReturn(noContent().withFixedDelay(200)).atPriority(9));
  }

  @AfterEach
  void stop() {
    scheduler.stop();
    assertThat(runners).isNotEmpty().allSatisfy(runner -> assertThat(runner.inUse()).isZero());
  }

  /** Holds the answer to a claim until a worker leaves. */
  private static final class UntilLeave implements ResponseDefinitionTransformerV2 {

    private static final String NAME = "until-leave";

    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch left = new CountDownLatch(1);

    @Override
    public ResponseDefinition transform(ServeEvent event) {
      if (event.getRequest().getUrl().equals(LEAVE)) {
        left.countDown();
      } else {
        held.countDown();
        try {
          assertThat(left.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      return event.getResponseDefinition();
    }

    @Override
    public boolean applyGlobally() {
      return false;
    }

    @Override
    public String getName() {
      return NAME;
    }
  }

  /** Keeps what the contexts of a test have made, to be looked at when they have ended. */
  final class Runners implements BeanPostProcessor {
    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
      if (bean instanceof PullRunner runner) {
        runners.add(runner);
      }
      return bean;
    }
  }

  // Spring's test framework pauses contexts that are not in use.
  @Test
  void itPullsAgainAfterTheContextWasStoppedAndStarted() {
    new ApplicationContextRunner()
        .withBean(Runners.class, Runners::new)
        .withConfiguration(AutoConfigurations.of(PunctualClientAutoConfiguration.class))
        .withPropertyValues(
            "spring.application.name=shop",
            "punctual.delivery=pull",
            "punctual.url=" + scheduler.baseUrl())
        .withBean("close", TaskWorker.class, Recording::new)
        .run(
            context -> {
              give("first", "order.close", 0);
              Awaitility.await().until(() -> acked("first"));
              context.stop();
              int calls = claims();
              give("second", "order.close", 0);
              context.start();
              Awaitility.await().until(() -> acked("second"));
              assertThat(claims()).isGreaterThan(calls);
              assertThat(ran).containsExactly("first", "second");
            });
  }

  @Test
  void anAnnotatedMethodIsFedToo() {
    new ApplicationContextRunner()
        .withBean(Runners.class, Runners::new)
        .withConfiguration(AutoConfigurations.of(PunctualClientAutoConfiguration.class))
        .withPropertyValues(
            "spring.application.name=shop",
            "punctual.delivery=pull",
            "punctual.url=" + scheduler.baseUrl())
        .withBean("close", Annotated.class, Annotated::new)
        .run(
            context -> {
              give("first", "order.close", 0);
              Awaitility.await().until(() -> acked("first"));
              assertThat(ran).containsExactly("first of first, attempt 1");
            });
  }

  @Test
  void aTypeWithANumberOfItsOwnIsFetchedByItself() {
    new ApplicationContextRunner()
        .withBean(Runners.class, Runners::new)
        .withConfiguration(AutoConfigurations.of(PunctualClientAutoConfiguration.class))
        .withPropertyValues(
            "spring.application.name=shop",
            "punctual.delivery=pull",
            "punctual.url=" + scheduler.baseUrl(),
            "punctual.workers.[mail].concurrency=2")
        .withBean("close", Annotated.class, Annotated::new)
        .withBean("mail", Mailing.class, Mailing::new)
        .run(
            context -> {
              Awaitility.await().until(() -> asked("mail", 2) && asked("order.close", 100));
              give("first", "order.close", 0);
              Awaitility.await().until(() -> acked("first"));
            });
  }

  @Test
  void whatIsMoreThanThereIsRoomForIsGivenBack() {
    CountDownLatch end = new CountDownLatch(1);
    give("first", "mail", 0);
    give("second", "sms", 0);
    // This one comes when the two others have the two places; in another order, one of those does.
    give("third", "order.close", 1_500);
    new ApplicationContextRunner()
        .withBean(Runners.class, Runners::new)
        .withConfiguration(AutoConfigurations.of(PunctualClientAutoConfiguration.class))
        .withPropertyValues(
            "spring.application.name=shop",
            "punctual.delivery=pull",
            "punctual.url=" + scheduler.baseUrl(),
            "punctual.concurrency=2",
            "punctual.workers.[mail].concurrency=1",
            "punctual.workers.[sms].concurrency=1")
        .withBean("waiting", Waiting.class, () -> new Waiting(end))
        .run(
            context -> {
              Awaitility.await().until(() -> ended("/release") == 1 && ran.size() == 2);
              assertThat(ended("/ack")).isZero();
              end.countDown();
              Awaitility.await().until(() -> ended("/ack") == 2);
              assertThat(ran).hasSize(2);
            });
  }

  @Test
  void aStopWaitsUntilASchedulerHasTakenTheLastEnd() {
    give("last", "order.close", 0);
    scheduler.stubFor(
        post(urlEqualTo(CLAIMS + "/last/ack"))
            .atPriority(1)
            .inScenario("busy")
            .whenScenarioStateIs(Scenario.STARTED)
            .willSetStateTo("over")
            .willReturn(jsonResponse("{}", 503).withFixedDelay(1_000)));
    runner()
        .withBean("close", TaskWorker.class, Recording::new)
        .run(context -> Awaitility.await().until(() -> ran.contains("last")));
    // By now the application has ended: the end was refused once, and taken when sent again.
    assertThat(ended("/ack")).isEqualTo(2);
  }

  @Test
  void aStopEndsTheRequestThatWaitsByAWordToTheSchedulerAndGivesBackWhatItBrings()
      throws Exception {
    give("late", "order.close", answer -> answer.withTransformers(UntilLeave.NAME));
    scheduler.stubFor(
        post(urlEqualTo(LEAVE))
            .willReturn(okJson("{\"ended\":1}").withTransformers(UntilLeave.NAME)));
    runner()
        .withBean("close", TaskWorker.class, Recording::new)
        .run(context -> Awaitility.await().until(() -> untilLeave.held.getCount() == 0));
    // Its answer came when the application was ending, and the job goes to another instance.
    assertThat(ran).isEmpty();
    assertThat(ended("/release")).isEqualTo(1);
    String worker =
        JSON.readTree(scheduler.findAll(postRequestedFor(urlEqualTo(CLAIMS))).get(0).getBody())
            .get("worker")
            .stringValue();
    assertThat(worker).startsWith("pull:shop:" + ProcessHandle.current().pid() + "-");
    scheduler.verify(
        postRequestedFor(urlEqualTo(LEAVE))
            .withRequestBody(
                equalToJson("{\"application\":\"shop\",\"worker\":\"%s\"}".formatted(worker))));
  }

  @Test
  void aJobThatCannotBeReadCostsNoPlaceAndMakesNone() {
    // More than was asked for, and one of them makes no sense.
    String good =
        """
        {"taskId":"good","taskType":"mail","incarnation":"i","attempt":1,"version":2,"claimedAt":1,"timeToRun":60000,"dueTime":1,
        "jobTimeToRun":60000,"params":"good","headers":{},"token":"good"}\
        """;
    scheduler.stubFor(post(urlMatching(CLAIMS + "/good/.*")).willReturn(okJson("{}")));
    scheduler.stubFor(
        post(urlEqualTo(CLAIMS))
            .inScenario("malformed")
            .whenScenarioStateIs(Scenario.STARTED)
            .willSetStateTo("given")
            .willReturn(jsonResponse("{\"jobs\":[" + good + ",{\"taskId\":\"bad\"}]}", 200)));
    runner()
        .withPropertyValues("punctual.workers.[mail].concurrency=1")
        .withBean("mail", Mailing.class, Mailing::new)
        .run(
            context -> {
              Awaitility.await().until(() -> acked("good"));
              int before = claims();
              Awaitility.await().until(() -> claims() >= before + 3);
              assertThat(asked("mail", 2)).isFalse();
              assertThat(asked("mail", 1)).isTrue();
            });
  }

  private ApplicationContextRunner runner() {
    return new ApplicationContextRunner()
        .withBean(Runners.class, Runners::new)
        .withConfiguration(AutoConfigurations.of(PunctualClientAutoConfiguration.class))
        .withPropertyValues(
            "spring.application.name=shop",
            "punctual.delivery=pull",
            "punctual.url=" + scheduler.baseUrl());
  }

  final class Waiting {

    private final CountDownLatch end;

    Waiting(CountDownLatch end) {
      this.end = end;
    }

    @DelayedTask(type = "mail", timeToRun = "1m")
    void mail(String text) throws InterruptedException {
      hold(text);
    }

    @DelayedTask(type = "sms", timeToRun = "1m")
    void sms(String text) throws InterruptedException {
      hold(text);
    }

    @DelayedTask(type = "order.close", timeToRun = "1m")
    void close(String text) throws InterruptedException {
      hold(text);
    }

    private void hold(String text) throws InterruptedException {
      ran.add(text);
      end.await();
    }
  }

  private int ended(String how) {
    return scheduler.findAll(postRequestedFor(urlMatching(CLAIMS + "/[a-z]+" + how))).size();
  }

  @Test
  void aJobThatIsNotOursAnyMoreIsCancelled() {
    scheduler.stubFor(
        post(urlEqualTo(CLAIMS + "/mine/extend")).willReturn(okJson("{\"outcome\":\"extended\"}")));
    scheduler.stubFor(
        post(urlEqualTo(CLAIMS + "/lost/extend"))
            .willReturn(jsonResponse("{\"code\":\"lease-lost\",\"detail\":\"gone\"}", 409))
            .atPriority(1));
    new ApplicationContextRunner()
        .withUserConfiguration(ShortLease.class)
        .withBean(Runners.class, Runners::new)
        .withConfiguration(AutoConfigurations.of(PunctualClientAutoConfiguration.class))
        .withPropertyValues(
            "spring.application.name=shop",
            "punctual.delivery=pull",
            "punctual.url=" + scheduler.baseUrl())
        .withBean("long", LongWork.class, LongWork::new)
        .run(
            context -> {
              give("mine", "order.close", 0);
              Awaitility.await().until(() -> acked("mine"));
              give("lost", "order.close", 0);
              Awaitility.await().until(() -> ran.contains("lost was cancelled"));
              assertThat(ran).containsExactly("mine has more", "lost was cancelled");
            });
  }

  @Test
  void aJobThatIsLeftToSomebodyElseIsNotEnded() {
    scheduler.stubFor(
        post(urlEqualTo(CLAIMS + "/left/extend")).willReturn(okJson("{\"outcome\":\"extended\"}")));
    new ApplicationContextRunner()
        .withBean(Runners.class, Runners::new)
        .withConfiguration(AutoConfigurations.of(PunctualClientAutoConfiguration.class))
        .withPropertyValues(
            "spring.application.name=shop",
            "punctual.delivery=pull",
            "punctual.workers.[order.close].concurrency=1",
            "punctual.url=" + scheduler.baseUrl())
        .withBean("left", Leaving.class, Leaving::new)
        .run(
            context -> {
              give("left", "order.close", 0);
              Awaitility.await().until(() -> ran.contains("left as left"));
              give("next", "order.close", 0);
              Awaitility.await().until(() -> acked("next"));
              scheduler.verify(
                  1,
                  postRequestedFor(urlEqualTo(CLAIMS + "/left/extend"))
                      .withRequestBody(equalToJson("{\"timeToRun\":3600000}")));
              assertThat(acked("left")).isFalse();
            });
  }

  final class Leaving {

    @DelayedTask("order.close")
    void work(String order, TaskContext context) {
      if (order.equals("left")) {
        ran.add("left as " + context.defer(Duration.ofHours(1)));
      }
    }
  }

  /** Asks for more time where it may, and else waits until it is told that it has lost the job. */
  final class LongWork {

    @DelayedTask("order.close")
    CompletableFuture<String> work(String order, TaskContext context) {
      CompletableFuture<String> future = new CompletableFuture<>();
      if (order.equals("mine")) {
        context.extend(Duration.ofMinutes(1));
        ran.add("mine has more");
        future.complete("");
      } else {
        context.onCancel(() -> ran.add(order + " was cancelled"));
      }
      return future;
    }
  }

  private boolean asked(String type, int max) {
    return scheduler.findAll(postRequestedFor(urlEqualTo(CLAIMS))).stream()
        .anyMatch(
            request ->
                request.getBodyAsString().contains("\"taskTypes\":[\"" + type + "\"]")
                    && request.getBodyAsString().contains("\"max\":" + max));
  }

  /** Holds jobs for a shorter time than an application does. */
  @Configuration(proxyBeanMethods = false)
  static class ShortLease {

    @Bean
    PullRunner pullRunner(
        ClientIdentity identity, TaskWorkers workers, JobRunner runner, SchedulerCalls calls) {
      return new PullRunner(
          identity,
          workers,
          runner,
          calls,
          10,
          type -> 10,
          Duration.ofSeconds(3),
          Duration.ofSeconds(20));
    }
  }

  static final class Mailing {

    @DelayedTask("mail")
    void mail(String text) {}
  }

  final class Annotated {

    @DelayedTask("order.close")
    void close(String order, TaskContext context) {
      ran.add(order + " of " + context.taskId() + ", attempt " + context.attempt());
    }
  }

  private final class Recording implements TaskWorker {

    @Override
    public String type() {
      return "order.close";
    }

    @Override
    public void invoke(String params) {
      ran.add(params);
    }
  }

  private int claims() {
    return scheduler.findAll(postRequestedFor(urlEqualTo(CLAIMS))).size();
  }

  private boolean acked(String job) {
    return !scheduler.findAll(postRequestedFor(urlEqualTo(CLAIMS + "/" + job + "/ack"))).isEmpty();
  }

  /** The next claim of that type gets this job. */
  private void give(String job, String type, int delayMs) {
    give(job, type, answer -> answer.withFixedDelay(delayMs));
  }

  private void give(String job, String type, UnaryOperator<ResponseDefinitionBuilder> details) {
    scheduler.stubFor(
        post(urlEqualTo(CLAIMS))
            .withRequestBody(matchingJsonPath("$.taskTypes[?(@ == '" + type + "')]"))
            .inScenario(job)
            .whenScenarioStateIs(Scenario.STARTED)
            .willSetStateTo("given")
            .willReturn(
                details.apply(
                    jsonResponse(
                        """
                        {"jobs":[{"taskId":"%s","taskType":"%s","incarnation":"i","attempt":1,"version":2,"claimedAt":1,"timeToRun":60000,
                        "dueTime":1,"jobTimeToRun":60000,"params":"%s","headers":{},"token":"%s"}]}\
                        """
                            .formatted(job, type, job, job),
                        200))));
    scheduler.stubFor(post(urlMatching(CLAIMS + "/" + job + "/.*")).willReturn(okJson("{}")));
  }
}
