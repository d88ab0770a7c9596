package io.punctual.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.InstanceInfo;
import io.punctual.DelayQueueJob;
import io.punctual.DelayedTask;
import io.punctual.RetryPolicy;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.CallbackHandler;
import io.punctual.client.doctor.ReachReport;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.registration.SchedulerRegistration;
import io.punctual.internal.TaskWorkers;
import io.punctual.internal.WorkerSetupException;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.autoconfigure.WorkerSetupFailureAnalyzer;
import io.punctual.spring.client.actuate.PunctualEndpoint;
import io.punctual.spring.client.actuate.PunctualHealthIndicator;
import io.punctual.spring.client.registry.ServiceRegistration;
import io.punctual.wire.WorkerMetadata;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.client.serviceregistry.Registration;
import org.springframework.cloud.client.serviceregistry.ServiceRegistry;
import org.springframework.cloud.commons.util.InetUtils;
import org.springframework.cloud.commons.util.InetUtilsProperties;
import org.springframework.cloud.netflix.eureka.EurekaInstanceConfigBean;
import org.springframework.context.ApplicationContext;
import org.springframework.mock.env.MockEnvironment;

@ExtendWith(OutputCaptureExtension.class)
class PunctualClientAutoConfigurationTest {

  private final WebApplicationContextRunner web =
      new WebApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  PunctualClientAutoConfiguration.class, PunctualCallbackAutoConfiguration.class))
          .withPropertyValues("spring.application.name=Order-Service");

  @Test
  void anApplicationGetsSubmittingAndItsCallback() {
    web.withBean("close", TaskWorker.class, () -> worker("order.close"))
        .run(
            context -> {
              assertThat(context).hasSingleBean(TaskSubmitService.class);
              assertThat(context).hasSingleBean(CallbackHandler.class);
              assertThat(context.getBean(TaskWorkers.class).types()).containsExactly("order.close");
              assertThat(context.getBean(ClientIdentity.class).application())
                  .isEqualTo("order-service");
            });
  }

  @Test
  void withoutAWebServerItCanStillSubmit() {
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                PunctualClientAutoConfiguration.class, PunctualCallbackAutoConfiguration.class))
        .withPropertyValues("spring.application.name=batch")
        .run(
            context -> {
              assertThat(context).hasSingleBean(TaskSubmitService.class);
              assertThat(context).doesNotHaveBean(CallbackHandler.class);
            });
  }

  @Test
  void oneSwitchTurnsEverythingOff() {
    web.withPropertyValues("punctual.enabled=false")
        .run(
            context -> {
              assertThat(context).doesNotHaveBean(TaskSubmitService.class);
              assertThat(context).doesNotHaveBean(CallbackHandler.class);
            });
  }

  @Test
  void theApplicationsOwnSubmitServiceWins() {
    TaskSubmitService own = mock(TaskSubmitService.class);

    web.withBean(TaskSubmitService.class, () -> own)
        .run(context -> assertThat(context.getBean(TaskSubmitService.class)).isSameAs(own));
  }

  @Test
  void twoWorkersOfOneTypeStopTheStartAndBothAreNamed() {
    web.withBean("first", TaskWorker.class, () -> worker("order.close"))
        .withBean("second", TaskWorker.class, () -> worker("order.close"))
        .run(
            context -> {
              assertThat(context).hasFailed();
              Throwable failure = context.getStartupFailure();
              assertThat(failure).hasRootCauseInstanceOf(WorkerSetupException.class);
              FailureAnalysis analysis =
                  new WorkerSetupFailureAnalyzer().analyze(Objects.requireNonNull(failure));
              assertThat(analysis).isNotNull();
              assertThat(analysis.getDescription()).contains("order.close", "'first'", "'second'");
              assertThat(analysis.getAction()).contains("type()");
            });
  }

  @Test
  void aTaskTypeThatIsNoNameStopsTheStart() {
    web.withBean("bad", TaskWorker.class, () -> worker("order close"))
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasRootCauseInstanceOf(WorkerSetupException.class)
                    .rootCause()
                    .hasMessageContaining("order close"));
  }

  @Test
  void anApplicationWithoutANameIsToldWhatToSet() {
    web.withPropertyValues("spring.application.name=")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("spring.application.name"));
  }

  @Test
  void aConcurrencyOutOfRangeNamesTheProperty() {
    web.withPropertyValues("punctual.concurrency=0")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("punctual.concurrency"));
  }

  @Test
  void aWorkerCanBeSwitchedOffInThisInstance() {
    web.withBean("orders", Orders.class, Orders::new)
        .withPropertyValues("punctual.workers.[order.close].enabled=false")
        .run(
            context ->
                assertThat(context.getBean(TaskWorkers.class).types())
                    .containsExactly("order.remind"));
  }

  @Test
  void settingsOfATypeWinOverThoseOfItsAnnotationForJobsThatSayNothing() {
    List<DelayQueueJob> sent = new ArrayList<>();
    JobScheduler recording = mock(JobScheduler.class);
    when(recording.submit(any()))
        .thenAnswer(
            call -> {
              DelayQueueJob job = call.getArgument(0);
              sent.add(job);
              return new SubmitResult(
                  job.taskId(), Instant.EPOCH, SubmitResult.Outcome.CREATED, 1, "");
            });
    web.withBean("orders", Orders.class, Orders::new)
        .withBean(JobScheduler.class, () -> recording)
        .withPropertyValues(
            "shop.time=40s", "punctual.workers.[order.close].retry=1s,2s;attempts=7")
        .run(
            context -> {
              TaskSubmitService service = context.getBean(TaskSubmitService.class);
              service.send("order.close", "", Duration.ZERO);
              service.job("order.close", "").in(Duration.ZERO).retry(RetryPolicy.NOTIFY).send();

              assertThat(sent)
                  .extracting(DelayQueueJob::timeToRun)
                  .containsOnly(Duration.ofSeconds(40));
              assertThat(sent)
                  .extracting(DelayQueueJob::retry)
                  .containsExactly(RetryPolicy.parse("1s,2s;attempts=7"), RetryPolicy.NOTIFY);
            });
  }

  @Test
  void aSettingOutOfRangeNamesItsProperty() {
    for (String setting : List.of("concurrency=0", "time-to-run=1ms", "retry=often")) {
      web.withPropertyValues("punctual.workers.[order.close]." + setting)
          .run(
              context ->
                  assertThat(context.getStartupFailure())
                      .rootCause()
                      .hasMessageContaining(
                          "punctual.workers.\"[order.close]\"."
                              + setting.substring(0, setting.indexOf('='))));
    }
    web.withBean("bad", BadSettings.class, BadSettings::new)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasRootCauseInstanceOf(WorkerSetupException.class)
                    .rootCause()
                    .hasMessageContaining(
                        "The concurrency 'many' of the method run of bean 'bad'"));
  }

  @Test
  void aConfiguredTypeThatNobodyHasIsWarnedOfWithWhatMayBeMeant(CapturedOutput output) {
    web.withBean("orders", Orders.class, Orders::new)
        .withPropertyValues(
            "punctual.workers.order.close.concurrency=5",
            "punctual.workers.[order.remnd].concurrency=5",
            "punctual.workers.[something.else].concurrency=5")
        .run(context -> assertThat(context).hasNotFailed());

    assertThat(output)
        .contains("'order', which no worker here has. Is 'order.close' meant?")
        .contains("punctual.workers.\"[order.close]\".*")
        .contains("'order.remnd', which no worker here has. Is 'order.remind' meant?")
        .contains("'something.else', which no worker here has; there are");
  }

  @Test
  void theReleaseIsTheApplicationsVersionUnlessThatIsNone(CapturedOutput output) {
    web.withPropertyValues("spring.application.version=2.14.0")
        .run(
            context -> {
              assertThat(context.getBean(ClientIdentity.class).release()).isEqualTo("2.14.0");
              assertThat(context.getBean(WorkerMetadata.class).toMap())
                  .containsEntry(WorkerMetadata.RELEASE, "2.14.0");
            });
    web.run(context -> assertThat(context.getBean(ClientIdentity.class).release()).isNull());
    assertThat(output).doesNotContain("spring.application.version");
    web.withPropertyValues("spring.application.version=2.14 (main)")
        .run(context -> assertThat(context.getBean(ClientIdentity.class).release()).isNull());
    assertThat(output)
        .contains("spring.application.version must be 1 to 64 printable", "'2.14 (main)'");
  }

  static class Orders {

    @DelayedTask(
        type = "order.close",
        concurrency = "20",
        timeToRun = "${shop.time:30s}",
        retry = "never")
    void close(String id) {}

    @DelayedTask("order.remind")
    void remind(String id) {}
  }

  static class BadSettings {

    @DelayedTask(type = "t", concurrency = "many")
    void run(String id) {}
  }

  @Test
  void onlyARegisteredInstanceAsksWhetherSchedulersReachIt() {
    WebApplicationContextRunner registered =
        web.withConfiguration(
                AutoConfigurations.of(
                    PunctualEurekaAutoConfiguration.class,
                    PunctualRegistrationAutoConfiguration.class))
            .withBean(
                EurekaInstanceConfigBean.class,
                () -> new EurekaInstanceConfigBean(new InetUtils(new InetUtilsProperties())))
            .withBean(
                ApplicationInfoManager.class,
                () ->
                    new ApplicationInfoManager(
                        new EurekaInstanceConfigBean(new InetUtils(new InetUtilsProperties())),
                        InstanceInfo.Builder.newBuilder()
                            .setAppName("order-service")
                            .setInstanceId("order-service:1")
                            .build()));

    registered.run(context -> assertThat(context).hasSingleBean(ReachReport.class));
    web.run(context -> assertThat(context).doesNotHaveBean(ReachReport.class));
  }

  @Test
  void registersAtTheSchedulersIfConfiguredOrIfNoRegistrysClientRegistersIt() {
    WebApplicationContextRunner registering =
        web.withConfiguration(
            AutoConfigurations.of(
                PunctualServiceRegistryAutoConfiguration.class,
                PunctualRegistrationAutoConfiguration.class));

    registering.run(context -> assertThat(context).hasSingleBean(SchedulerRegistration.class));
    registering
        .withPropertyValues("punctual.registration=registry")
        .run(context -> assertThat(context).doesNotHaveBean(InstanceRegistration.class));
    WebApplicationContextRunner registered =
        registering
            .withBean(Registration.class, () -> mock(Registration.class))
            .withBean(ServiceRegistry.class, () -> mock(ServiceRegistry.class));
    registered.run(
        context ->
            assertThat(context)
                .hasSingleBean(ServiceRegistration.class)
                .hasSingleBean(InstanceRegistration.class));
    registered
        .withPropertyValues("punctual.registration=scheduler")
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(SchedulerRegistration.class)
                    .hasSingleBean(InstanceRegistration.class));
    WebApplicationContextRunner without =
        registering
            .withClassLoader(new FilteredClassLoader("org.springframework.cloud", "com.netflix"))
            .withPropertyValues("punctual.url=http://localhost:8080");
    without.run(context -> assertThat(context).hasSingleBean(SchedulerRegistration.class));
    without
        .withPropertyValues("punctual.registration=registry")
        .run(context -> assertThat(context).doesNotHaveBean(InstanceRegistration.class));
    without
        .withPropertyValues("punctual.delivery=pull")
        .run(context -> assertThat(context).doesNotHaveBean(InstanceRegistration.class));
  }

  @Test
  void theCallbackUrlMustBeABaseAddress() {
    for (String url :
        List.of(
            "http://h:1/path",
            "h:1",
            "ftp://h",
            "http://my_host:8081",
            "http://user:secret@h",
            "http://user:secret@my_host",
            "http://h?token=secret")) {
      web.withPropertyValues("punctual.callback.url=" + url)
          .run(
              context ->
                  assertThat(context.getStartupFailure())
                      .hasStackTraceContaining(
                          "punctual.callback.url must be http or https with a host and an optional"
                              + " port, such as http://10.0.0.7:8080, but was '")
                      .hasStackTraceContaining("Remove user, path, query and fragment.")
                      .satisfies(
                          failure -> assertThat(stackTrace(failure)).doesNotContain("secret")));
    }
    web.withPropertyValues("punctual.callback.url=http://10.0.0.7:8081/")
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void aUrlThatIsNoneIsShownWithoutItsPassword() {
    for (String property : List.of("punctual.callback.url", "punctual.url")) {
      web.withPropertyValues(property + "=http://user:secret@h h")
          .run(
              context ->
                  assertThat(context.getStartupFailure())
                      .hasStackTraceContaining(property)
                      .hasStackTraceContaining("'http://***@h h': Illegal character in authority")
                      .satisfies(
                          failure -> assertThat(stackTrace(failure)).doesNotContain("secret")));
    }
  }

  private static String stackTrace(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  @Test
  void aHandlerOfTheApplicationsOwnNeedsNoMetadata() {
    new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(PunctualRegistrationAutoConfiguration.class))
        .withBean(CallbackHandler.class, () -> null)
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void theEndpointIsThereWhereItIsExposedAndHealthWhereItIsNotSwitchedOff() {
    WebApplicationContextRunner actuated =
        web.withConfiguration(
            AutoConfigurations.of(
                EndpointAutoConfiguration.class, PunctualActuatorAutoConfiguration.class));

    actuated.run(
        context ->
            assertThat(context)
                .doesNotHaveBean(PunctualEndpoint.class)
                .hasSingleBean(PunctualHealthIndicator.class));
    actuated
        .withPropertyValues(
            "management.endpoints.web.exposure.include=punctual",
            "management.health.punctual.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(PunctualEndpoint.class)
                    .doesNotHaveBean(PunctualHealthIndicator.class));
    actuated
        .withPropertyValues(
            "management.endpoints.web.exposure.include=punctual", "punctual.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(PunctualEndpoint.class));
  }

  @Test
  void withoutTheActuatorNothingIsMissed() {
    web.withConfiguration(AutoConfigurations.of(PunctualActuatorAutoConfiguration.class))
        .withClassLoader(
            new FilteredClassLoader(
                "org.springframework.boot.actuate", "org.springframework.boot.health"))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("punctualEndpoint"));
  }

  @Test
  void withoutTomcatTheCallbackIsThereWithoutItsValves() {
    web.run(
        context ->
            assertThat(context).hasBean("punctualTomcatDrop").hasBean("punctualTomcatForwarded"));
    FilteredClassLoader without = new FilteredClassLoader("org.apache.catalina");
    web.withClassLoader(without).run(PunctualClientAutoConfigurationTest::hasNoValve);
    new ReactiveWebApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                PunctualClientAutoConfiguration.class, PunctualCallbackAutoConfiguration.class))
        .withPropertyValues("spring.application.name=order-service")
        .withClassLoader(without)
        .run(PunctualClientAutoConfigurationTest::hasNoValve);
  }

  private static void hasNoValve(ApplicationContext context) {
    assertThat(context.getBeansOfType(CallbackHandler.class)).hasSize(1);
    assertThat(context.containsBean("punctualTomcatDrop")).isFalse();
    assertThat(context.containsBean("punctualTomcatForwarded")).isFalse();
  }

  @Test
  void thePublishedPathHasContextPathAndServletPath() {
    MockEnvironment environment =
        new MockEnvironment()
            .withProperty("server.servlet.context-path", "/shop/")
            .withProperty("spring.mvc.servlet.path", "web");

    assertThat(CallbackPath.ofServlet(environment, "/punctual/callback"))
        .isEqualTo("/shop/web/punctual/callback");
    assertThat(CallbackPath.ofServlet(new MockEnvironment(), "/punctual/callback"))
        .isEqualTo("/punctual/callback");
    environment.setProperty("spring.webflux.base-path", "/shop");
    assertThat(CallbackPath.ofReactive(environment, "/punctual/callback"))
        .isEqualTo("/shop/punctual/callback");
  }

  private static TaskWorker worker(String type) {
    return new TaskWorker() {
      @Override
      public String type() {
        return type;
      }

      @Override
      public void invoke(String params) {}
    };
  }
}
