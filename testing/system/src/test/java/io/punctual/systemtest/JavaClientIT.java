package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.punctual.CancelResult;
import io.punctual.DelayQueueJob;
import io.punctual.JobInfo;
import io.punctual.SubmitResult;
import io.punctual.TagCancelResult;
import io.punctual.TaskSubmitService.RestoreResult;
import io.punctual.TaskWorker;
import io.punctual.client.PunctualClient;
import io.punctual.client.callback.HttpServerCallback;
import io.punctual.redis.Ports;
import io.punctual.spi.JobScheduler;
import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The client in plain Java and a real scheduler. */
class JavaClientIT {

  private static final String SIGNING_KEY = "a secret of schedulers that is long enough";

  private static final String ASKED = Workload.of("asked").application();

  private static JavaProcess scheduler;
  private static int askedPort;

  @BeforeAll
  static void start() {
    askedPort = Ports.free();
    String asked = "--spring.cloud.discovery.client.simple.instances." + ASKED + "[0].";
    scheduler =
        PROGRAMS
            .scheduler(
                REGISTRY,
                REDIS.port(),
                "java-client",
                "--punctual.security.signing-keys=" + SIGNING_KEY,
                asked + "uri=http://127.0.0.1:" + askedPort,
                asked + "metadata.punctual-callback=/callback")
            .start()
            .awaitReady();
  }

  @AfterAll
  static void stop() {
    scheduler.close();
  }

  @Test
  void aJobIsFoundWhereverItIs() throws IOException {
    String application = Workload.of("found").application();
    JobScheduler jobs = JavaClient.of(application, scheduler);
    SubmitResult sent =
        jobs.submit(
            DelayQueueJob.of("mail")
                .taskId("a")
                .params("hello")
                .header("x", "y")
                .tag("order:2")
                .tag("order:1")
                .delay(Duration.ofHours(1))
                .build());

    JobInfo delayed = jobs.find("mail", "a").orElseThrow();
    assertThat(delayed.state()).isEqualTo(JobInfo.State.DELAYED);
    assertThat(delayed.at()).isEqualTo(sent.dueAt());
    assertThat(delayed.attempts()).isZero();
    assertThat(delayed.maxAttempts()).isPositive();
    assertThat(delayed.params()).isEqualTo("hello");
    assertThat(delayed.headers()).containsExactly(Map.entry("x", "y"));
    assertThat(delayed.tags()).containsExactly("order:1", "order:2");
    assertThat(delayed.lastError()).isNull();

    Instant now = jobs.reschedule("mail", "a", Duration.ZERO).dueAt();
    assertThat(now).isBefore(sent.dueAt());
    String token = claim(application);
    JobInfo reserved = jobs.find("mail", "a").orElseThrow();
    assertThat(reserved.state()).isEqualTo(JobInfo.State.RESERVED);
    assertThat(reserved.at()).isAfter(now);

    end(token, "reject", "{\"worker\":\"w\",\"error\":\"no such customer\"}");
    JobInfo dead = jobs.find("mail", "a").orElseThrow();
    assertThat(dead.state()).isEqualTo(JobInfo.State.DEAD);
    assertThat(dead.lastError()).contains("no such customer");

    jobs.submit(DelayQueueJob.of("mail").taskId("b").delay(Duration.ZERO).build());
    end(claim(application), "ack", "");
    JobInfo finished = jobs.find("mail", "b").orElseThrow();
    assertThat(finished.state()).isEqualTo(JobInfo.State.FINISHED);
    assertThat(finished.params()).isNull();
    assertThat(jobs.find("mail", "nobody")).isEmpty();
  }

  @Test
  void aTagCancelsWhatWaitsAndLeavesWhatAWorkerHas() throws IOException {
    String application = Workload.of("tagged").application();
    JobScheduler jobs = JavaClient.of(application, scheduler);
    jobs.submit(
        DelayQueueJob.of("mail").taskId("held").tag("order:1").delay(Duration.ZERO).build());
    String token = claim(application);
    jobs.submitAll(
        List.of(
            DelayQueueJob.of("mail").taskId("a").tag("order:1").delay(Duration.ofHours(1)).build(),
            DelayQueueJob.of("bill").taskId("b").tag("order:1").delay(Duration.ofHours(1)).build(),
            DelayQueueJob.of("bill")
                .taskId("c")
                .tag("order:2")
                .delay(Duration.ofHours(1))
                .build()));

    TagCancelResult result = jobs.cancelByTag("order:1");

    assertThat(result.items())
        .containsExactlyInAnyOrder(
            new TagCancelResult.Item("mail", "held", CancelResult.Outcome.IN_DELIVERY),
            new TagCancelResult.Item("mail", "a", CancelResult.Outcome.CANCELLED),
            new TagCancelResult.Item("bill", "b", CancelResult.Outcome.CANCELLED));
    assertThat(result.cancelled()).isEqualTo(2);
    assertThat(jobs.find("mail", "a").orElseThrow().state()).isEqualTo(JobInfo.State.CANCELLED);
    assertThat(jobs.find("bill", "c").orElseThrow().state()).isEqualTo(JobInfo.State.DELAYED);
    end(token, "ack", "");

    assertThat(jobs.find("mail", "a").orElseThrow().restorableUntil()).isAfter(Instant.now());
    assertThat(jobs.restore("mail", "a").restored()).isTrue();
    assertThat(jobs.find("mail", "a").orElseThrow().state()).isEqualTo(JobInfo.State.DELAYED);
    assertThat(jobs.restore("mail", "held").outcome()).isEqualTo(RestoreResult.Outcome.FINISHED);
  }

  /** An instance in plain Java that runs some task types, behind the JDK's server. */
  private static final class Instance implements AutoCloseable {

    private final BlockingQueue<String> ran = new LinkedBlockingQueue<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;
    private final PunctualClient client;

    Instance(String application, int port, String... types) throws IOException {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
      server.setExecutor(threads);
      PunctualClient.Builder builder =
          PunctualClient.of(application).schedulers(List.of(URI.create(scheduler.url())));
      for (String type : types) {
        builder.worker(
            new TaskWorker() {
              @Override
              public String type() {
                return type;
              }

              @Override
              public void invoke(String params) {
                ran.add(params);
              }
            });
      }
      client = builder.build();
      server.createContext(
          "/callback",
          new HttpServerCallback(
              client.callback(List.of(CallbackSignature.Key.derived(SIGNING_KEY, application)))));
      server.start();
    }

    void register() {
      client.register(
          URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/callback"));
    }

    void submit(String type, String params) {
      client.scheduler().submit(DelayQueueJob.of(type).params(params).delay(Duration.ZERO).build());
    }

    String next() throws InterruptedException {
      return ran.poll(20, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
      client.close();
      server.stop(0);
      threads.shutdownNow();
    }
  }

  /** Its registry has an address, and no more. */
  @Test
  void anInstanceIsAskedWhatItRunsAgainAndAgain() throws Exception {
    try (Instance before = new Instance(ASKED, askedPort, "mail")) {
      before.submit("mail", "hello");
      assertThat(before.next()).isEqualTo("hello");
    }
    // At the same address; the registry shows no difference.
    try (Instance after = new Instance(ASKED, askedPort, "bill")) {
      after.submit("bill", "5 EUR");
      assertThat(after.next()).isEqualTo("5 EUR");
      Waiting.until(
          "only that is run",
          () ->
              Http.get(scheduler.url() + "/api/v1/workers?application=" + ASKED)
                  .body()
                  .contains("\"taskTypes\":[\"bill\"]"));
    }
  }

  @Test
  void anInstanceThatRegistersIsCalledUntilItIsClosed() throws Exception {
    String application = Workload.of("registers").application();
    try (Instance instance = new Instance(application, 0, "mail")) {
      instance.register();
      instance.submit("mail", "hello");
      assertThat(instance.next()).isEqualTo("hello");
    }
    Waiting.until(
        "the instance is known no more",
        () ->
            Http.get(scheduler.url() + "/api/v1/workers?application=" + application)
                .json()
                .get("items")
                .isEmpty());
  }

  @Test
  @Tag("full")
  void theExampleCancelsOneJobAndRunsTheOther() throws IOException {
    Path target = ModuleDirectory.of("plain-java").resolve("target");
    String jar = "plain-java-" + System.getProperty("punctual.version") + ".jar";
    try (ExampleProgram shop =
        ExampleProgram.start(target, Map.of(), JavaProcess.JAVA, "-jar", jar, scheduler.url())) {
      shop.awaitEnd();
      assertThat(shop.lines("order ")).containsExactly("order 1002 is paid, its job: CANCELLED");
      assertThat(shop.lines("closing ")).containsExactly("closing order 1001");
    }
  }

  @Test
  @Tag("full")
  void theExampleIsCalledThroughTheWebServerOfTheJdk() throws IOException {
    Path target = ModuleDirectory.of("plain-java").resolve("target");
    String jar = "plain-java-" + System.getProperty("punctual.version") + ".jar";
    CallbackSignature.Key key = CallbackSignature.Key.derived(SIGNING_KEY, "called-shop");
    try (ExampleProgram shop =
        ExampleProgram.start(
            target,
            Map.of("PUNCTUAL_CALLBACK_SECRET", key.reveal()),
            JavaProcess.JAVA,
            "-cp",
            jar,
            "io.punctual.example.CalledShop",
            scheduler.url(),
            "http://127.0.0.1:" + Ports.free() + "/punctual/callback")) {
      shop.awaitEnd();
      assertThat(shop.lines("closing ")).containsExactly("closing order 1001");
    }
    String workers = scheduler.url() + "/api/v1/workers?application=called-shop";
    Waiting.until("it has left", () -> Http.get(workers).json().get("items").isEmpty());
    String queue = scheduler.url() + "/api/v1/queues/called-shop/order.close";
    Waiting.until(
        "its answer is there", () -> Http.get(queue).json().at("/counters/done").asInt(0) == 1);
    JsonNode jobs = Http.get(queue).json();
    assertThat(jobs.get("delayed").intValue()).isZero();
    assertThat(jobs.get("reserved").intValue()).isZero();
    assertThat(jobs.get("dead").intValue()).isZero();
  }

  private static String claim(String application) throws IOException {
    Http.Answer answer =
        Http.post(
            scheduler.url() + "/api/v1/claims",
            """
            {"application":"%s","taskTypes":["mail"],"max":1,"wait":10000,"worker":"w"}\
            """
                .formatted(application));
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    return answer.json().get("jobs").get(0).get("token").stringValue();
  }

  private static void end(String token, String how, String body) throws IOException {
    Http.Answer answer = Http.post(scheduler.url() + "/api/v1/claims/" + token + "/" + how, body);
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
  }
}
