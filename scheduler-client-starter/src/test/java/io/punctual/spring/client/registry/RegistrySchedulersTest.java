package io.punctual.spring.client.registry;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.SchedulerUnavailableException;
import io.punctual.TaskSubmitService;
import io.punctual.spring.client.PunctualActuatorAutoConfiguration;
import io.punctual.spring.client.PunctualClientAutoConfiguration;
import io.punctual.spring.client.actuate.PunctualEndpoint;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;

/** What is said where the registry knows no scheduler, or only one that is away. */
@ExtendWith(OutputCaptureExtension.class)
@ResourceLock(Resources.SYSTEM_OUT)
class RegistrySchedulersTest {

  private final Registry registry = new Registry();
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(PunctualClientAutoConfiguration.class))
          .withPropertyValues("spring.application.name=shop", "punctual.submit-timeout=1s");
  private final ApplicationContextRunner registered =
      application.withBean(DiscoveryClient.class, () -> registry);

  private static class Registry implements DiscoveryClient {

    final List<ServiceInstance> schedulers = new ArrayList<>();
    boolean away;
    @Nullable CountDownLatch standing;

    @Override
    public String description() {
      return "a registry of this test";
    }

    @Override
    public List<ServiceInstance> getInstances(String serviceId) {
      if (away) {
        throw new IllegalStateException("the agent is away");
      }
      return serviceId.equals("punctual-scheduler") ? schedulers : List.of();
    }

    @Override
    public List<String> getServices() {
      CountDownLatch until = standing;
      if (until != null) {
        try {
          until.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      return List.of();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static void send(TaskSubmitService tasks) {
    var unused = tasks.send("order.close", "", Duration.ZERO);
  }

  @Test
  void anApplicationWithoutARegistryIsToldToNameTheScheduler() {
    application.run(
        context ->
            assertThatThrownBy(() -> send(context.getBean(TaskSubmitService.class)))
                .hasMessage(
                    "Nothing was sent: no scheduler is known: This application has no"
                        + " DiscoveryClient, and punctual.url is not set. Set"
                        + " punctual.url to the address of a scheduler, or enable the client"
                        + " of the registry (eureka.client.enabled)."));
  }

  @Test
  void schedulersThatShareNoJobsAreTold(CapturedOutput log) {
    for (String installation : List.of("punctual@1", "punctual@1", "other@2")) {
      DefaultServiceInstance scheduler =
          new DefaultServiceInstance(
              "s" + registry.schedulers.size(),
              "punctual-scheduler",
              "scheduler-" + registry.schedulers.size(),
              8080,
              false);
      scheduler.getMetadata().put("punctual-installation", installation);
      registry.schedulers.add(scheduler);
    }
    registered.run(
        context -> {
          context.publishEvent(new HeartbeatEvent(this, 1));
          context.publishEvent(new HeartbeatEvent(this, 2));

          assertThat(log.getAll())
              .containsOnlyOnce("shows schedulers of 2 installations as punctual-scheduler:")
              .contains("http://scheduler-2:8080", "punctual.service-id");
        });
  }

  /** Not every registry's client tells that it has a new view. */
  @Test
  void anApplicationThatSendsIsToldOfSchedulersThatShareNoJobs(CapturedOutput log)
      throws IOException {
    for (String installation : List.of("punctual@1", "other@2")) {
      DefaultServiceInstance scheduler =
          new DefaultServiceInstance(
              installation, "punctual-scheduler", "127.0.0.1", freePort(), false);
      scheduler.getMetadata().put("punctual-installation", installation);
      registry.schedulers.add(scheduler);
    }
    registered.run(
        context -> {
          assertThatThrownBy(() -> send(context.getBean(TaskSubmitService.class)))
              .isInstanceOf(SchedulerUnavailableException.class);

          assertThat(log.getAll())
              .containsOnlyOnce("shows schedulers of 2 installations as punctual-scheduler:");
        });
  }

  @Test
  void aRegistryThatDoesNotAnswerIsNamedWithWhatItsPortDoes() throws IOException {
    int port = freePort();
    registered
        .withPropertyValues(
            "eureka.client.service-url.defaultZone=http://me:s3cret@127.0.0.1:" + port + "/eureka/")
        .run(
            context ->
                assertThatThrownBy(() -> send(context.getBean(TaskSubmitService.class)))
                    .hasMessageStartingWith(
                        "Nothing was sent: no scheduler is known: The registry http://127.0.0.1:"
                            + port
                            + "/eureka/ has not answered yet (connection refused). Start it,")
                    .hasMessageContaining("eureka.client.service-url.defaultZone"));
  }

  @Test
  void aRegistryThatAcceptsConnectionsAndAnswersNothingIsToldFromOneThatIsAway()
      throws IOException {
    try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String url = "http://127.0.0.1:" + hung.getLocalPort() + "/eureka/";
      registered
          .withPropertyValues("eureka.client.service-url.defaultZone=" + url)
          .run(
              context ->
                  assertThatThrownBy(() -> send(context.getBean(TaskSubmitService.class)))
                      .hasMessage(
                          "Nothing was sent: no scheduler is known: The registry "
                              + url
                              + " has not answered yet (it accepts connections and answers nothing"
                              + " within 1 s). Start it, or restart it if it hangs. If it runs at"
                              + " another address, correct eureka.client.service-url.defaultZone"
                              + " (the schedulers' registry). To do without a registry, set"
                              + " punctual.url (the schedulers' address)."));
    }
  }

  @Test
  void aRegistryWhosePortAnswersHasALogThatSaysMore() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread answer =
          new Thread(
              () -> {
                try (Socket call = server.accept()) {
                  call.getOutputStream().write("HTTP/1.0 401 No\r\n\r\n".getBytes(US_ASCII));
                  call.getInputStream().transferTo(OutputStream.nullOutputStream());
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      answer.start();
      assertThat(RegistryProbe.look("http://127.0.0.1:" + server.getLocalPort() + "/eureka/"))
          .isEqualTo(" (its port accepts connections; the log of its client says more)");
      answer.join();
    }
  }

  @Test
  @Timeout(30)
  void anErrorDoesNotWaitForARegistryThatStandsStill() {
    registry.standing = new CountDownLatch(1);
    try {
      registered.run(
          context ->
              assertThatThrownBy(() -> send(context.getBean(TaskSubmitService.class)))
                  .hasMessageContaining("has not answered yet"));
    } finally {
      registry.standing.countDown();
    }
  }

  @Test
  void anAddressWithoutASchemeIsTried() throws IOException {
    int port = freePort();
    assertThat(RegistryProbe.look("127.0.0.1:" + port)).isEqualTo(" (connection refused)");
    assertThat(RegistryProbe.look("localhost:" + port + ",other:2181/root"))
        .isEqualTo(" (connection refused)");
  }

  @Test
  void aRegistryWithoutASchedulerIsToldFromOneThatIsAway() {
    registered.run(
        context -> {
          context.publishEvent(new HeartbeatEvent(this, 1));
          assertThatThrownBy(() -> send(context.getBean(TaskSubmitService.class)))
              .hasMessageStartingWith(
                  "Nothing was sent: no scheduler is known: The registry"
                      + " http://localhost:8761/eureka/ shows no instance of punctual-scheduler."
                      + " Start a scheduler;")
              .hasMessageContaining("punctual.service-id")
              .hasMessageContaining("punctual.url");
        });
  }

  @Test
  void aSchedulerAtAnAddressThatNobodyReachesIsNamedWithWhatToSetThere() throws IOException {
    int port = freePort();
    registry.schedulers.add(
        new DefaultServiceInstance("1", "punctual-scheduler", "127.0.0.1", port, false));
    registered.run(
        context ->
            assertThatThrownBy(() -> send(context.getBean(TaskSubmitService.class)))
                .hasMessageMatching(
                    "Nothing was sent: no scheduler accepts connections: http://127.0.0.1:"
                        + port
                        // A machine that is very busy gives no answer within the second.
                        + " \\((connection refused|no connection in time)\\)\\. The registry"
                        + " http://localhost:8761/eureka/ shows these addresses\\..*")
                .hasMessageContaining("eureka.instance.hostname"));
  }

  @Tag("full")
  @Test
  void aRegistryClientThatThrowsStopsNothingAndIsTheCause() {
    registry.away = true;
    registered
        .withConfiguration(
            AutoConfigurations.of(
                EndpointAutoConfiguration.class, PunctualActuatorAutoConfiguration.class))
        .withPropertyValues(
            "punctual.delivery=pull", "management.endpoints.web.exposure.include=punctual")
        .withBean(RunsNothing.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThatThrownBy(() -> send(context.getBean(TaskSubmitService.class)))
                  .isInstanceOf(SchedulerUnavailableException.class)
                  .hasMessageStartingWith(
                      "Nothing was sent: the addresses of the schedulers cannot be read:"
                          + " java.lang.IllegalStateException: the agent is away.")
                  .hasRootCauseMessage("the agent is away");
              PunctualEndpoint.Description description =
                  context.getBean(PunctualEndpoint.class).describe();
              assertThat(description.schedulers()).isEmpty();
              assertThat(description.schedulersError()).contains("the agent is away");
            });
  }

  /** A worker, so that the application pulls. */
  static class RunsNothing implements io.punctual.TaskWorker {
    @Override
    public String type() {
      return "order.close";
    }

    @Override
    public void invoke(String params) {}
  }
}
