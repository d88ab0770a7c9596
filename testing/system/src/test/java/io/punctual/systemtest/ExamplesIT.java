package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.DIRECTORY;
import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.redis.Ports;
import io.punctual.spi.JobScheduler;
import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The programs of {@code examples}, in their own languages, against a scheduler. */
@Tag("full")
class ExamplesIT {

  private static final Path EXAMPLES = ModuleDirectory.root().resolve("examples");
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final String SIGNING_KEY = "1f8a3b5c7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
  private static JavaProcess scheduler;
  private static @Nullable Path node;

  @BeforeAll
  static void start() throws IOException {
    ExampleProgram.requireLanguages();
    scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "examples").start().awaitReady();
  }

  @AfterAll
  static void stop() {
    if (scheduler != null) {
      scheduler.close();
    }
  }

  @Test
  void anOrderOfTheShopInKotlinIsClosedByASuspendFunction() throws Exception {
    Path target = ModuleDirectory.of("kotlin-shop").resolve("target");
    int port = Ports.free();
    try (JavaProcess shop =
        PROGRAMS
            .foreign(
                Path.of(System.getProperty("java.home")),
                target,
                "kotlin-shop",
                List.of(
                    "-jar",
                    "kotlin-shop-" + System.getProperty("punctual.version") + ".jar",
                    "--server.address=127.0.0.1",
                    "--server.port=" + port,
                    "--punctual.url=" + scheduler.url(),
                    Programs.eureka(REGISTRY)),
                port)
            .start()) {
      shop.awaitPort();
      assertThat(ofReadme("kotlin-shop", "A shop in Kotlin", shop, "/5", "/1"))
          .containsExactly("CREATED");
      shop.awaitLog("closed 1001 of channel web in attempt 1");
      shop.terminate();
    }
  }

  @Test
  void theShopOnQuarkusClosesAnOrderUnlessItIsPaid() throws Exception {
    int port = Ports.free();
    try (JavaProcess shop =
        PROGRAMS
            .foreign(
                Path.of(System.getProperty("java.home")),
                ModuleDirectory.of("quarkus-shop").resolve("target"),
                "quarkus-shop",
                List.of(
                    "-Dquarkus.http.host=127.0.0.1",
                    "-Dquarkus.http.port=" + port,
                    "-Dpunctual.url=" + scheduler.url(),
                    "-jar",
                    "quarkus-app/quarkus-run.jar"),
                port)
            .start()) {
      shop.awaitPort();
      assertThat(ofReadme("quarkus-shop", "A shop on Quarkus", shop, "/5", "/1800"))
          .hasSize(2)
          .satisfies(
              answers -> {
                assertThat(answers.get(0)).contains("CREATED");
                assertThat(answers.get(1)).contains("CANCELLED");
              });
      assertThat(Http.put(shop.url() + "/orders/1002/1", "").body()).contains("CREATED");
      shop.awaitLog("closing order 1002");
      shop.terminate();
    }
  }

  /** What the calls of an example's README answer, with another time. */
  private static List<String> ofReadme(
      String example, String heading, JavaProcess shop, String time, String otherTime)
      throws IOException {
    String calls =
        MarkdownPage.of("examples/" + example + "/README.md").blocks(heading, "bash").stream()
            .flatMap(String::lines)
            .filter(line -> line.startsWith("curl "))
            .map(line -> line.replaceFirst("localhost:\\d+", shop.url()))
            .map(line -> line.replaceFirst(time + "$", otherTime))
            .collect(Collectors.joining("\n"));
    return ExampleProgram.shell(DIRECTORY, Map.of(), calls);
  }

  /** A worker and calls, as a README has them; the jobs are due at once. */
  @ParameterizedTest
  @CsvSource({
    "examples/README.md, Examples, ., done 1",
    "examples/python/README.md, A client in Python, examples/python, 'failed 2: no voice'",
    "examples/python/README.md, A worker that is called, examples/python, run 3 hello",
    "examples/php/README.md, A client in PHP, examples/php, 'failed 2: no voice'",
    "examples/node/README.md, A worker in Node, , '{\"status\":200'",
  })
  void theCommandsOfAReadmeRun(
      String readme, String heading, @Nullable String directory, String shown) throws IOException {
    String application = Workload.of("readme").application();
    Map<String, String> environment = new HashMap<>(environment(application));
    environment.putAll(nodeEnvironment(application, null));
    environment.put("WORKER_ADDRESS", "127.0.0.1:" + Ports.free());
    environment.put("PYTHONUNBUFFERED", "1");
    Path where = directory == null ? installedNode() : ModuleDirectory.root().resolve(directory);
    String[] parts = MarkdownPage.of(readme).blocks(heading, "bash").get(0).split(" &.*\n", 2);
    String worker = parts[0].replace("npm ci\n", "").replace(" default ", " " + application + " ");
    String calls =
        parts[1]
            .replace(" 5 hello", " 0 hello")
            .replace("\"5s\"", "\"0s\"")
            .replace("mail-service", application)
            .replace("http://localhost:8080", scheduler.url())
            .replace("localhost:8080", scheduler.url());
    try (ExampleProgram program =
        ExampleProgram.start(
            where,
            environment,
            "bash",
            "-euc",
            worker.replaceFirst("(python3|php|node) ", "exec $1 "))) {
      ExampleProgram.shell(where, environment, calls);
      program.await(shown, 1);
    }
  }

  @Test
  void jobsThatPythonAddsArePushedToAJavaWorker() throws Exception {
    Workload load = Workload.of("python-adds");
    try (JavaProcess worker = load.worker(REGISTRY).start()) {
      worker.awaitReady();
      for (String id : List.of("py-1", "py-2", "py-3")) {
        python(load.application(), "add", "job", id, "0.2", id + " record");
      }
      Waiting.until("the worker was called", () -> load.begun("py-").size() == 3);
      load.awaitDrained(scheduler);
      assertThat(load.executions()).hasSize(3);
    }
  }

  @Test
  void jobsThatJavaAndPhpSendArePoppedByPhp() throws Exception {
    String application = Workload.of("php").application();
    JobScheduler java = JavaClient.of(application, scheduler);
    for (int i = 0; i < 20; i++) {
      java.submit(
          DelayQueueJob.of("job")
              .taskId("java-" + i)
              .params("x " + i)
              .delay(Duration.ZERO)
              .build());
    }
    java.submit(
        DelayQueueJob.of("job")
            .taskId("bad")
            .params("fail no voice")
            .retry(RetryPolicy.parse("never"))
            .delay(Duration.ZERO)
            .build());
    Map<String, String> environment = environment(application);
    ExampleProgram.run(
        EXAMPLES.resolve("php"),
        environment,
        "php",
        "punctual.php",
        "add",
        "job",
        "php-0",
        "0.5",
        "x");
    try (ExampleProgram php =
        ExampleProgram.start(
            EXAMPLES.resolve("php"), environment, "php", "punctual.php", "work", "job")) {
      php.await("done java-", 20);
      php.await("done php-0", 1);
      php.await("failed bad: no voice. It is a dead letter.", 1);
      assertThat(php.lines()).hasSize(2 * 22);
    }
    assertThat(job(scheduler, application, "job", "java-7").get("state").stringValue())
        .isEqualTo("finished");
    assertThat(job(scheduler, application, "job", "bad").at("/lastError/message").asString(""))
        .isEqualTo("no voice");
  }

  @Test
  void aPythonWorkerThatRegistersItselfIsCalled() throws Exception {
    String application = Workload.of("python-worker").application();
    String address = "127.0.0.1:" + Ports.free();
    Map<String, String> environment =
        Map.of("PUNCTUAL_URL", scheduler.url(), "WORKER_ADDRESS", address);
    String workers = scheduler.url() + "/api/v1/workers?application=" + application;
    try (ExampleProgram python =
        ExampleProgram.start(
            EXAMPLES.resolve("python"), environment, "python3", "worker.py", application, "job")) {
      python(application, "add", "job", "py-1", "0.2", "hello");
      python.await("run py-1 hello", 1);
      Waiting.until(
          "it is listed",
          () -> Http.get(workers).json().at("/items/0/source").asString("").equals("scheduler"));
      python.terminate();
    }
    Waiting.until("it has left", () -> Http.get(workers).json().at("/items").isEmpty());
  }

  /** The page has the program, and nothing that is not run here. */
  @Test
  void theProgramOfThePageInPythonClaimsItsJobs() throws Exception {
    MarkdownPage page = MarkdownPage.of("docs/other-languages.md");
    String application = Workload.of("page-in-python").application();
    Path directory = Files.createDirectories(DIRECTORY.resolve("other-languages"));
    Files.writeString(
        directory.resolve("mailer.py"),
        placed(page.blocks("Other languages", "python").get(0))
            .replace("\"mailer\"", "\"" + application + "\""));
    try (ExampleProgram mailer =
        ExampleProgram.start(directory, Map.of("PYTHONUNBUFFERED", "1"), "python3", "mailer.py")) {
      mailer.await("mail to ann@example.org", 1);
      JavaClient.of(application, scheduler)
          .submit(
              DelayQueueJob.of("mail.send")
                  .taskId("bad")
                  .params("nowhere")
                  .retry(RetryPolicy.parse("never"))
                  .delay(Duration.ZERO)
                  .build());
      Waiting.until(
          "the failed attempt is reported",
          () ->
              job(scheduler, application, "mail.send", "bad")
                  .at("/lastError/message")
                  .asString("")
                  .equals("no address: nowhere"));
      assertThat(
              Http.get(scheduler.url() + "/api/v1/queues/" + application + "/mail.send")
                  .json()
                  .at("/counters/done")
                  .intValue())
          .isEqualTo(1);
      mailer.interrupt();
      assertThat(mailer.lines("Traceback")).isEmpty();
    }
  }

  @Test
  void theCallsOfThePageSucceed() throws Exception {
    MarkdownPage page = MarkdownPage.of("docs/other-languages.md");
    for (String heading : List.of("Look up, reschedule and cancel", "Commands: one address")) {
      for (String block : page.blocks(heading, "bash")) {
        ExampleProgram.run(
            EXAMPLES,
            Map.of(),
            "bash",
            "-euc",
            "curl() { command curl -fsS \"$@\"; }\n" + placed(block));
      }
    }
  }

  private static String placed(String block) {
    assertThat(block).contains("localhost:8080");
    return block.replace("localhost:8080", scheduler.url().substring("http://".length()));
  }

  @Test
  void pythonPopsAndFinishesTwoHundredJobs() throws Exception {
    String application = Workload.of("python").application();
    List<DelayQueueJob> jobs = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      jobs.add(
          DelayQueueJob.of("job").taskId("n-" + i).params("x").delay(Duration.ofMillis(i)).build());
    }
    JavaClient.of(application, scheduler).submitAll(jobs);
    python(application, "add", "job", "bad", "0", "fail no voice");
    try (ExampleProgram python = popper(application, "10")) {
      python.await("done n-", 200);
      python.await("failed bad: no voice. It will be tried again.", 1);
      assertThat(python.lines("done n-")).doesNotHaveDuplicates().hasSize(200);
      JsonNode queue = Http.get(scheduler.url() + "/api/v1/queues/" + application + "/job").json();
      assertThat(queue.at("/counters/done").intValue()).isEqualTo(200);
    }
  }

  @Test
  void anEndWhoseAnswerIsLostIsReportedAgain() throws Exception {
    String application = Workload.of("lost-answers").application();
    for (String language : List.of("python", "php")) {
      String[] popper =
          language.equals("php")
              ? new String[] {"php", "punctual.php", "work", language}
              : pythonCommand("work", language);
      try (LossyRelay relay = new LossyRelay(scheduler.url(), "finish");
          ExampleProgram program =
              ExampleProgram.start(
                  EXAMPLES.resolve(language),
                  Map.of("PUNCTUAL_URL", relay.url(), "PUNCTUAL_APPLICATION", application),
                  popper)) {
        python(application, "add", language, "1", "0", "x");
        program.await("done 1", 1);
        assertThat(program.lines("begin")).hasSize(1);
        assertThat(program.lines("finish again in 1 s")).hasSize(1);
        assertThat(program.lines("finish again in 2 s")).hasSize(1);
      }
    }
  }

  @Test
  void theJobOfAPopperThatIsKilledComesBackToAnother() throws Exception {
    String application = Workload.of("python-killed").application();
    python(application, "add", "job", "long", "0", "sleep 2");
    try (ExampleProgram dying = popper(application, "3")) {
      dying.await("begin long 1", 1);
      dying.kill();
      assertThat(dying.lines("done")).isEmpty();
    }
    assertThat(job(scheduler, application, "job", "long").get("state").stringValue())
        .isEqualTo("reserved");
    try (ExampleProgram other = popper(application)) {
      other.await("done long", 1);
      assertThat(other.lines("begin")).containsExactly("begin long 2 sleep 2");
    }
  }

  @Test
  void nodeReadsItsCallbacksWithTheCloudEventsSdkAndAnswersEachByStatus() throws Exception {
    String application = Workload.of("node").application();
    Path directory = installedNode();
    try (ExampleProgram node =
        ExampleProgram.start(directory, nodeEnvironment(application, null), "node", "worker.js")) {
      addressOf(node, application);
      long due = System.currentTimeMillis() + 100;
      sendMail(scheduler, application, "fine", "ann@example.org", due);
      sendMail(scheduler, application, "busy", "busy@example.org", due);
      sendMail(scheduler, application, "never", "nobody", due);
      node.await("{\"status\":200", 2);
      node.await("{\"status\":422", 1);

      JsonNode fine = event(node, "\"id\":\"fine\"");
      assertThat(fine.get("type").stringValue()).isEqualTo("mail.send");
      assertThat(fine.get("source").stringValue()).isEqualTo("/" + application + "/mail.send");
      assertThat(Instant.parse(fine.get("time").stringValue()))
          .isEqualTo(Instant.ofEpochMilli(due));
      assertThat(fine.get("attempt").asString()).isEqualTo("1");
      assertThat(fine.at("/data/to").stringValue()).isEqualTo("ann@example.org");
      assertThat(event(node, "429,\"id\":\"busy\"").get("attempt").asString()).isEqualTo("1");
      assertThat(event(node, "200,\"id\":\"busy\"").get("attempt").asString()).isEqualTo("2");
      assertThat(node.lines("{")).hasSize(4);

      for (String done : List.of("fine", "busy")) {
        Waiting.until(
            done + " is finished",
            () ->
                job(scheduler, application, "mail.send", done)
                    .get("state")
                    .stringValue()
                    .equals("finished"));
      }
      Waiting.until(
          "a dead letter",
          () ->
              job(scheduler, application, "mail.send", "never")
                  .get("state")
                  .stringValue()
                  .equals("dead"));
      assertThat(
              job(scheduler, application, "mail.send", "never")
                  .at("/lastError/message")
                  .asString(""))
          .startsWith("HTTP 422");

      String entry = REGISTRY.url() + "/eureka/apps/" + application;
      assertThat(Http.get(entry).status()).isEqualTo(200);
      node.terminate();
      Waiting.until("it is out of the registry", () -> Http.get(entry).status() == 404);
    }
  }

  @Test
  void nodeVerifiesItsCallbacksAndSignsItsAnswersWithAStandardWebhooksLibrary() throws Exception {
    String application = Workload.of("node-signed").application();
    CallbackSignature.Key key = CallbackSignature.Key.derived(SIGNING_KEY, application);
    Path directory = installedNode();
    try (JavaProcess signing = signingScheduler("examples-signed").start().awaitReady();
        ExampleProgram node =
            ExampleProgram.start(
                directory, nodeEnvironment(application, key.reveal()), "node", "worker.js")) {
      URI worker = addressOf(node, application);
      long due = System.currentTimeMillis();
      sendMail(signing, application, "fine", "jos\u00e9@example.org", due);
      sendMail(signing, application, "never", "nobody", due);
      Waiting.until("it is finished", () -> stateOf(signing, application, "fine", "finished"));
      // An answer that ends a job counts only if it is signed: this one was, too.
      Waiting.until("a dead letter", () -> stateOf(signing, application, "never", "dead"));
      assertThat(event(node, "\"id\":\"fine\"").at("/data/to").stringValue())
          .isEqualTo("jos\u00e9@example.org");
      int events = node.lines("{").size();

      String mail = "{\"to\":\"eve@example.org\"}";
      long now = Instant.now().getEpochSecond();
      assertThat(call(worker, mail, Map.of()).statusCode()).isEqualTo(401);
      assertThat(call(worker, mail, signed(key, "msg_altered", now, mail + " ")).statusCode())
          .isEqualTo(401);
      assertThat(call(worker, mail, signed(key, "msg_old", now - 301, mail)).statusCode())
          .isEqualTo(401);
      CallbackSignature.Key other = CallbackSignature.Key.derived(SIGNING_KEY, "other");
      assertThat(call(worker, mail, signed(other, "msg_other", now, mail)).statusCode())
          .isEqualTo(401);
      assertThat(node.lines("{")).hasSize(events);
      assertThat(node.lines("refused: ")).hasSize(4);
      String late = "msg_late_" + Instant.now().minusSeconds(40).toEpochMilli();
      assertThat(call(worker, mail, signed(key, late, now, mail)).statusCode()).isEqualTo(421);
      assertThat(node.lines("{")).hasSize(events);

      Map<String, String> right = signed(key, "msg_right", now, mail);
      HttpResponse<Void> taken = call(worker, mail, right);
      assertThat(taken.statusCode()).isEqualTo(200);
      assertThat(
              CallbackSignature.verify(
                  List.of(key),
                  taken.headers().firstValue(CallbackSignature.ANSWER).orElse(""),
                  CallbackSignature.answerId("msg_right"),
                  Long.toString(now),
                  "200".getBytes(StandardCharsets.UTF_8)))
          .isTrue();
      assertThat(call(worker, mail, right).statusCode()).isEqualTo(401);
      assertThat(node.lines("refused: msg_right was here before")).hasSize(1);
      assertThat(node.lines("{")).hasSize(events + 1);
    }
  }

  @Test
  void nodeRegistersWithAPasswordThatItDoesNotLog() throws Exception {
    String password = "4e8d1c0b7a963f25";
    Path directory = installedNode();
    try (JavaProcess closed =
        PROGRAMS.program("eureka-registry", "--punctual.registry.password=" + password)) {
      Map<String, String> environment = new HashMap<>(nodeEnvironment("node-closed", null));
      environment.put(
          "EUREKA_URL",
          closed.url().replace("http://", "http://punctual:" + password + "@") + "/eureka/");
      closed.start().awaitReady();
      try (ExampleProgram node =
          ExampleProgram.start(directory, environment, "node", "worker.js")) {
        addressOf(node, "node-closed");
        closed.kill();
        node.await("eureka heartbeat FAILED", 1);
        assertThat(node.lines().stream().filter(line -> line.contains(password))).isEmpty();
      }
    }
  }

  @Test
  void nodeWithAWrongSecretGetsNothingDone() throws Exception {
    String application = Workload.of("node-wrong").application();
    CallbackSignature.Key wrong = CallbackSignature.Key.derived(SIGNING_KEY, "other");
    Path directory = installedNode();
    try (JavaProcess signing = signingScheduler("examples-wrong").start().awaitReady();
        ExampleProgram node =
            ExampleProgram.start(
                directory, nodeEnvironment(application, wrong.reveal()), "node", "worker.js")) {
      addressOf(node, application);
      sendMail(signing, application, "fine", "ann@example.org", System.currentTimeMillis());
      isProbedAs(signing, application, "answer-of-another-key");
      JsonNode job = job(signing, application, "mail.send", "fine");
      assertThat(job.get("state").stringValue()).isEqualTo("delayed");
      assertThat(job.at("/attempts/counted").asInt()).isZero();
      assertThat(node.lines("{")).isEmpty();
      assertThat(node.lines("refused: ")).as("jobs").isEmpty();
    }
  }

  /** The impostor has the registry's password, and reaches a worker that has the key. */
  @Test
  void aPingThatAnImpostorPassesOnProvesNothing() throws Exception {
    String application = Workload.of("node-relayed").application();
    CallbackSignature.Key key = CallbackSignature.Key.derived(SIGNING_KEY, application);
    Queue<String> seen = new ConcurrentLinkedQueue<>();
    HttpServer impostor =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    Path directory = installedNode();
    try (JavaProcess signing = signingScheduler("examples-relayed").start().awaitReady();
        ExampleProgram node =
            ExampleProgram.start(
                directory, nodeEnvironment(application, key.reveal()), "node", "worker.js")) {
      URI worker = addressOf(node, application);
      impostor.createContext("/", exchange -> passOn(exchange, worker, seen));
      impostor.start();
      RegistryEntry entry =
          RegistryEntry.of(
                  application,
                  "impostor",
                  "127.0.0.1",
                  impostor.getAddress().getPort(),
                  "mail.send")
              .speaks("single");
      assertThat(Http.post(REGISTRY.url() + entry.path(), entry.json()).status()).isEqualTo(204);
      Waiting.until("it got the worker's signature", () -> seen.contains("OPTIONS 204 signed"));
      isProbedAs(signing, application, "answer-of-another-key");

      for (int i = 0; i < 10; i++) {
        sendMail(signing, application, "m" + i, "ann@example.org", System.currentTimeMillis());
      }
      for (int i = 0; i < 10; i++) {
        String id = "m" + i;
        Waiting.until(id + " is done", () -> stateOf(signing, application, id, "finished"));
      }
      // The other scheduler has no keys, and no jobs of the application: its ping asks for less.
      assertThat(seen).isSubsetOf("OPTIONS 204 signed", "OPTIONS 204");
    } finally {
      impostor.stop(0);
    }
  }

  private static void passOn(HttpExchange exchange, URI worker, Queue<String> seen)
      throws IOException {
    String method = exchange.getRequestMethod();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(worker)
            .method(
                method,
                HttpRequest.BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()));
    String ping = exchange.getRequestHeaders().getFirst(CallbackSignature.PING);
    if (ping != null) {
      request.header(CallbackSignature.PING, ping);
    }
    try (exchange;
        HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<Void> answer =
          client.send(request.build(), HttpResponse.BodyHandlers.discarding());
      Optional<String> signature = answer.headers().firstValue(CallbackSignature.ANSWER);
      signature.ifPresent(
          value -> exchange.getResponseHeaders().set(CallbackSignature.ANSWER, value));
      exchange.sendResponseHeaders(answer.statusCode(), -1);
      seen.add(method + " " + answer.statusCode() + (signature.isPresent() ? " signed" : ""));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  private static void isProbedAs(JavaProcess asked, String application, String code) {
    String workers = asked.url() + "/api/v1/workers?application=" + application;
    Waiting.until(code, () -> Http.get(workers).body().contains("\"" + code + "\""));
  }

  /** The page has it for workers without a library. */
  @Test
  void theLinesOfThePageInPythonSignThePing() throws Exception {
    CallbackSignature.Key key = CallbackSignature.Key.derived(SIGNING_KEY, "mail-service");
    String url = "http://10.0.0.7:9000/jobs";
    String program =
        """
        import base64, hashlib, hmac
        class self:
            headers = {"Punctual-Ping": "5f0c"}
            send_header = staticmethod(print)
        SECRET, MY_URL = "%s", "%s"
        %s
        """
            .formatted(
                key.reveal(),
                url,
                MarkdownPage.of("docs/callbacks.md").blocks("Pings", "python").get(0));
    Path directory = Files.createDirectories(DIRECTORY.resolve("ping"));
    Files.writeString(directory.resolve("ping.py"), program);
    try (ExampleProgram python = ExampleProgram.start(directory, Map.of(), "python3", "ping.py")) {
      String start = CallbackSignature.ANSWER + " ";
      python.await(start, 1);
      assertThat(
              CallbackSignature.verify(
                  List.of(key),
                  python.lines(start).get(0).substring(start.length()),
                  CallbackSignature.PING_ID,
                  CallbackSignature.PING_TIMESTAMP,
                  CallbackSignature.pingContent("5f0c", url).getBytes(StandardCharsets.UTF_8)))
          .isTrue();
    }
  }

  private static JavaProcess signingScheduler(String keyPrefix) {
    return PROGRAMS.scheduler(
        REGISTRY, REDIS.port(), keyPrefix, "--punctual.security.signing-keys=" + SIGNING_KEY);
  }

  private static boolean stateOf(JavaProcess asked, String application, String id, String state)
      throws IOException {
    return job(asked, application, "mail.send", id).get("state").stringValue().equals(state);
  }

  /** What a caller sends along who has the key. */
  private static Map<String, String> signed(
      CallbackSignature.Key key, String id, long timestamp, String body) {
    String time = Long.toString(timestamp);
    return Map.of(
        CallbackSignature.ID,
        id,
        CallbackSignature.TIMESTAMP,
        time,
        CallbackSignature.SIGNATURE,
        CallbackSignature.sign(List.of(key), id, time, body.getBytes(StandardCharsets.UTF_8)));
  }

  private static HttpResponse<Void> call(URI worker, String body, Map<String, String> headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(worker)
            .headers("Content-Type", "application/json", "ce-specversion", "1.0", "ce-id", "forged")
            .headers("ce-type", "mail.send", "ce-source", "/eve", "ce-attempt", "1")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    headers.forEach(request::header);
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(request.build(), HttpResponse.BodyHandlers.discarding());
    }
  }

  private static Map<String, String> nodeEnvironment(String application, @Nullable String secret) {
    Map<String, String> environment =
        new HashMap<>(
            Map.of(
                "APPLICATION",
                application,
                "EUREKA_URL",
                REGISTRY.url() + "/eureka/",
                "HOST",
                "127.0.0.1"));
    if (secret != null) {
      environment.put("PUNCTUAL_CALLBACK_SECRET", secret);
    }
    return environment;
  }

  /** Where it takes its jobs, once it has registered. */
  private static URI addressOf(ExampleProgram node, String application) throws IOException {
    String start = application + " takes mail.send at ";
    node.await(start + "127.0.0.1:", 1);
    return URI.create("http://" + node.lines(start).get(0).substring(start.length()));
  }

  /** Installs beside the logs, so that the sources stay as they are. */
  private static synchronized Path installedNode() throws IOException {
    if (node == null) {
      node = installNode();
    }
    return node;
  }

  private static Path installNode() throws IOException {
    Path directory = Files.createDirectories(DIRECTORY.resolve("node").toAbsolutePath());
    for (String file : List.of("package.json", "package-lock.json", ".npmrc", "worker.js")) {
      Files.copy(EXAMPLES.resolve("node").resolve(file), directory.resolve(file));
    }
    ExampleProgram.run(directory, Map.of(), "npm", "ci", "--no-audit", "--no-fund");
    return directory;
  }

  private static JsonNode event(ExampleProgram node, String part) throws IOException {
    List<String> lines = node.lines("{").stream().filter(line -> line.contains(part)).toList();
    assertThat(lines).as(part).hasSize(1);
    return JSON.readTree(lines.get(0));
  }

  private static void sendMail(
      JavaProcess asked, String application, String id, String to, long due) throws IOException {
    Http.Answer answer =
        Http.post(
            asked.url() + "/api/v1/jobs",
            """
            {"application":"%s","taskType":"mail.send","taskId":"%s","delayTime":%d,\
            "params":"{\\"to\\":\\"%s\\"}"}\
            """
                .formatted(application, id, due, to));
    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
  }

  private static JsonNode job(JavaProcess asked, String application, String taskType, String id)
      throws IOException {
    return Http.get(asked.url() + "/api/v1/jobs/" + application + "/" + taskType + "/" + id).json();
  }

  private static void python(String application, String... arguments) throws IOException {
    ExampleProgram.run(
        EXAMPLES.resolve("python"), environment(application), pythonCommand(arguments));
  }

  private static ExampleProgram popper(String application, String... ttr) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("work", "job"));
    arguments.addAll(List.of(ttr));
    return ExampleProgram.start(
        EXAMPLES.resolve("python"),
        environment(application),
        pythonCommand(arguments.toArray(String[]::new)));
  }

  private static String[] pythonCommand(String... arguments) {
    List<String> command = new ArrayList<>(List.of("python3", "punctual.py"));
    command.addAll(List.of(arguments));
    return command.toArray(String[]::new);
  }

  private static Map<String, String> environment(String application) {
    return Map.of("PUNCTUAL_URL", scheduler.url(), "PUNCTUAL_APPLICATION", application);
  }
}
