package io.punctual.systemtest;

import static io.punctual.systemtest.OldSide.LATER;
import static io.punctual.systemtest.OldSide.SOON;
import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Jobs move out of other libraries' queues, which real ones have filled. */
@Tag("full")
class ImportJobsIT {

  private static final RedisServer OLD = RedisServer.startTemporary();
  private static JavaProcess scheduler;

  private final String application = "moved-" + UUID.randomUUID().toString().substring(0, 8);

  @BeforeAll
  static void start() {
    scheduler =
        PROGRAMS
            .scheduler(
                "http://127.0.0.1:1", REDIS.port(), "import-jobs", "--eureka.client.enabled=false")
            .start()
            .awaitReady();
  }

  @AfterAll
  static void stop() {
    scheduler.close();
    OLD.close();
  }

  @AfterEach
  void clear() throws IOException {
    assertThat(Resp.call(OLD.port(), "FLUSHALL")).isEqualTo("OK");
  }

  /** The command of the page, with other names. */
  private String[] command(String library, String queue, String... more) throws IOException {
    String page =
        MarkdownPage.of("docs/import-jobs.md").blocks("Move waiting jobs", "console").get(0);
    String start = "$ java -jar scheduler-server.jar ";
    String shown =
        page.replace("\\\n", "")
            .lines()
            .filter(line -> line.startsWith(start))
            .findFirst()
            .orElseThrow()
            .substring(start.length())
            .replace(
                " redisson redis://old-redis:6379 orders ",
                " %s redis://127.0.0.1:%d %s ".formatted(library, OLD.port(), queue))
            .replace("=shop", "=" + application)
            .replace("=order.close", "=moved")
            .replace("http://scheduler:8080", scheduler.url());
    List<String> words = new ArrayList<>(List.of(shown.split(" +")));
    words.addAll(Arrays.asList(more));
    return words.toArray(String[]::new);
  }

  /**
   * As many jobs as {@code import.jobs} says, and those that are sent meanwhile: each runs on one
   * side, once, and none early.
   *
   * @param slackMs by how much the library may have planned a job for later than its sender said
   */
  private void moveWhileBothSidesRun(OldSide old, String library, String queue, long slackMs)
      throws Exception {
    Collection<String> here = new ConcurrentLinkedQueue<>();
    AtomicBoolean ended = new AtomicBoolean();
    CompletableFuture<Void> worker;
    try (old) {
      old.start();
      worker = CompletableFuture.runAsync(() -> run(here, ended));
      for (int moved : List.of(LATER / 5, LATER / 2)) {
        killAfter(moved, library, queue);
      }
      // It ends, although jobs are still sent.
      assertThat(PROGRAMS.command(command(library, queue)))
          .contains("jobs were moved.")
          .doesNotContain("refused");
      old.stopSending();
      assertThat(PROGRAMS.command(command(library, queue)))
          .contains("jobs were moved.")
          .doesNotContain("refused");
      old.awaitEmpty();
      Waiting.until("what was due soon has run", () -> dueSoon(old, here).isEmpty());
      ended.set(true);
      worker.join();

      assertThat(here).as("run by Punctual meanwhile").isNotEmpty();
      assertThat(old.ran()).as("run by the old side meanwhile").isNotEmpty();
      assertThat(Stream.concat(here.stream(), old.ran().stream()).map(run -> run.split(" ")))
          .as("none was early")
          .allMatch(run -> Long.parseLong(run[2]) >= Long.parseLong(run[1]));
      List<String> all = new ArrayList<>(payloads(here));
      all.addAll(payloads(old.ran()));
      all.addAll(waiting(slackMs));
      assertThat(all).doesNotHaveDuplicates();
      Set<String> lost = new HashSet<>(old.sent());
      lost.removeAll(new HashSet<>(all));
      assertThat(lost).isEmpty();
      assertThat(all).hasSameSizeAs(old.sent());
      assertThat(all).hasSizeGreaterThanOrEqualTo(LATER + SOON);
    } finally {
      ended.set(true);
    }
  }

  /** Payloads of what ran; behind each is when. */
  private static List<String> payloads(Collection<String> runs) {
    return runs.stream().map(run -> run.substring(0, run.lastIndexOf(' '))).toList();
  }

  /** What was sent, is due within a minute, and has not run. */
  private static Set<String> dueSoon(OldSide old, Collection<String> here) throws IOException {
    long soon = System.currentTimeMillis() + 60_000;
    Set<String> jobs =
        old.sent().stream()
            .filter(job -> Long.parseLong(job.substring(job.indexOf(' ') + 1)) < soon)
            .collect(Collectors.toSet());
    payloads(here).forEach(jobs::remove);
    payloads(old.ran()).forEach(jobs::remove);
    return jobs;
  }

  /** Runs in Punctual what is due. */
  private void run(Collection<String> here, AtomicBoolean ended) {
    while (!ended.get()) {
      try {
        for (JsonNode job : stored().run("moved")) {
          here.add(payload(job) + " " + job.get("claimedAt").longValue());
        }
        Thread.sleep(50);
      } catch (IOException | InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** BullMQ writes a text as JSON. */
  private static String payload(JsonNode job) {
    return job.get("params").stringValue().replace("\"", "");
  }

  private void killAfter(int moved, String library, String queue) throws Exception {
    Process broken = PROGRAMS.startCommand(command(library, queue));
    Waiting.until(moved + " jobs are moved", () -> stored().waiting("moved") >= moved);
    broken.destroyForcibly().waitFor();
    String lock = Resp.call(OLD.port(), "KEYS", "punctual-import-lock:*");
    assertThat(Long.parseLong(Resp.call(OLD.port(), "PTTL", lock))).isBetween(5_000L, 30_000L);
    // Its half minute ends sooner here.
    assertThat(Resp.call(OLD.port(), "PEXPIRE", lock, "1000")).isEqualTo("1");
  }

  /** Takes the jobs that wait in Punctual, each of which has its due time; returns payloads. */
  private List<String> waiting(long slackMs) throws IOException {
    Map<String, Long> due = new HashMap<>();
    for (JsonNode job : stored().all()) {
      due.put(
          job.get("taskId").stringValue(),
          Instant.parse(job.get("dueAt").stringValue()).toEpochMilli());
    }
    List<String> payloads = new ArrayList<>();
    for (JsonNode job : stored().pull("moved")) {
      String payload = payload(job);
      long sent = Long.parseLong(payload.substring(payload.indexOf(' ') + 1));
      assertThat(due.get(job.get("taskId").stringValue())).isBetween(sent, sent + slackMs);
      payloads.add(payload);
    }
    assertThat(payloads).hasSameSizeAs(due.keySet());
    return payloads;
  }

  @Test
  void aDelayedQueueOfRedissonMovesWhileBothSidesRun() throws Exception {
    // Its client counts the delay from when it sends.
    moveWhileBothSidesRun(
        new OldSide.DelayedQueue(OLD.port(), "orders"), "redisson", "orders", 5_000);
    assertThat(Resp.call(OLD.port(), "DBSIZE")).isEqualTo("0");
  }

  @Test
  void aSortedSetMovesWhileBothSidesRun() throws Exception {
    moveWhileBothSidesRun(new OldSide.SortedSet(OLD.port(), "orders"), "sorted-set", "orders", 0);
    assertThat(Resp.call(OLD.port(), "DBSIZE")).isEqualTo("0");
  }

  @Test
  void delayedJobsOfBullMqMoveWhileBothSidesRun(@TempDir Path directory) throws Exception {
    install(directory, "both.mjs");
    moveWhileBothSidesRun(
        new OldSide.BullMq(directory, OLD.port(), "orders"), "bullmq", "bull:orders", 0);
    assertThat(Resp.call(OLD.port(), "KEYS", "*").lines())
        .as("no job has left anything")
        .isSubsetOf(
            Stream.of("id", "meta", "events", "marker", "stalled-check")
                .map("bull:orders:"::concat)
                .toList());
  }

  private StoredJobs stored() {
    return new StoredJobs(scheduler.url(), application);
  }

  @Test
  void delayedJobsOfBullMqMoveAndThoseOfItsOwnSchedulersStay(@TempDir Path directory)
      throws Exception {
    install(directory, "fill.mjs");
    String port = Integer.toString(OLD.port());
    ExampleProgram.run(directory, Map.of(), "node", "fill.mjs", port, "700");

    String said = PROGRAMS.command(command("bullmq", "bull:mail"));

    assertThat(said)
        .contains("701 jobs were moved. 2 were refused and are where they were.")
        .contains("A job is made by a job scheduler of BullMQ")
        .contains("A job is a child of the flow");
    assertThat(stored().all())
        .hasSize(701)
        .allSatisfy(
            job ->
                assertThat(job.get("dueAt").stringValue())
                    .isEqualTo(Instant.ofEpochMilli(2_000_000_000_000L).toString()));
    assertThat(stored().pull("moved"))
        .filteredOn(job -> job.get("taskId").stringValue().startsWith("mail-"))
        .hasSize(700)
        .allSatisfy(
            job -> {
              assertThat(job.at("/headers/bullmq-name").stringValue()).isEqualTo("welcome");
              assertThat(job.get("params").stringValue())
                  .isEqualTo("{\"number\":" + job.get("taskId").stringValue().substring(5) + "}");
            });
    assertThat(Resp.call(OLD.port(), "ZCARD", "bull:mail:delayed")).isEqualTo("2");
    assertThat(Resp.call(OLD.port(), "EXISTS", "bull:mail:mail-1")).isEqualTo("0");
    assertThat(Resp.call(OLD.port(), "EXISTS", "bull:mail:de:newsletter-7")).isEqualTo("0");
  }

  /** BullMQ knows a job that was taken, and lets the application remove it. */
  @Test
  void aJobThatTheOldSideRemovesWhileItIsTakenDoesNotRun(@TempDir Path directory) throws Exception {
    install(directory, "fill.mjs");
    Files.copy(resource("bullmq/remove.mjs"), directory.resolve("remove.mjs"));
    String port = Integer.toString(OLD.port());
    ExampleProgram.run(directory, Map.of(), "node", "fill.mjs", port, "3");
    String[] nowhere = command("bullmq", "bull:mail");
    nowhere[nowhere.length - 1] = "--scheduler=http://127.0.0.1:1";
    assertThat(PROGRAMS.command(nowhere)).contains("did not answer", "No job is lost");
    // As if the command had sent it before it was ended.
    String sent =
        "{\"application\":\"%s\",\"taskType\":\"moved\",\"taskId\":\"mail-2\",\"delay\":\"1h\"}";
    assertThat(Http.post(scheduler.url() + "/api/v1/jobs", sent.formatted(application)).status())
        .isEqualTo(201);
    ExampleProgram.run(directory, Map.of(), "node", "remove.mjs", port, "mail-1", "mail-2");

    assertThat(PROGRAMS.command(command("bullmq", "bull:mail")))
        .contains(
            "A job was changed or removed at the old side. It is not in Punctual",
            "A job was changed or removed at the old side. It was cancelled in Punctual",
            "2 jobs were moved. 2 were refused and are where they were. 2 were changed or removed at"
                + " the old side.");

    assertThat(stored().all()).hasSize(2);
    assertThat(Resp.call(OLD.port(), "ZCARD", "bull:mail:delayed")).isEqualTo("2");
    assertThat(Resp.call(OLD.port(), "KEYS", "punctual-import:*")).isEmpty();
  }

  /** Puts a program of Node and BullMQ into a directory. */
  private static void install(Path directory, String program) throws Exception {
    for (String file : List.of("package.json", "package-lock.json", program)) {
      Files.copy(resource("bullmq/" + file), directory.resolve(file));
    }
    ExampleProgram.run(
        directory,
        Map.of(),
        "npm",
        "install",
        "--omit=optional",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund");
  }

  private static Path resource(String name) throws URISyntaxException {
    return Path.of(Objects.requireNonNull(ImportJobsIT.class.getResource("/" + name)).toURI());
  }

  @Test
  void aSortedSetMovesAndWhatIsNoTextStays() throws Exception {
    int port = OLD.port();
    Resp.call(port, "ZADD", "reminders", "2000000000.5", "{\"id\":7}");
    Resp.call(port, "ZADD", "reminders", "2000000000", "{\"id\":8}");

    assertThat(PROGRAMS.command(command("sorted-set", "reminders", "--seconds", "--dry-run")))
        .contains(", due at 2033-05-18T03:33:20.500Z")
        .contains("2 would be moved, and 0 be refused. This run changed nothing.");
    assertThat(stored().all()).isEmpty();
    assertThat(Resp.call(port, "ZCARD", "reminders")).isEqualTo("2");

    assertThat(PROGRAMS.command(command("sorted-set", "reminders", "--seconds")))
        .contains("2 jobs were moved.");

    assertThat(stored().all())
        .extracting(job -> job.get("dueAt").stringValue())
        .containsExactly("2033-05-18T03:33:20Z", "2033-05-18T03:33:20.500Z");
    assertThat(stored().pull("moved"))
        .extracting(job -> job.get("params").stringValue())
        .containsExactlyInAnyOrder("{\"id\":7}", "{\"id\":8}");
    assertThat(Resp.call(port, "EXISTS", "reminders")).isEqualTo("0");

    // Larger than a job may be: the scheduler refuses it.
    Resp.call(port, "ZADD", "reminders", "2000000000", "x".repeat(300_000));
    assertThat(PROGRAMS.command(command("sorted-set", "reminders", "--seconds")))
        .contains(
            "A job has a payload of more than 262,144 bytes", "0 jobs were moved. 1 were refused");
    assertThat(Resp.call(port, "ZSCORE", "reminders", "x".repeat(300_000))).isEqualTo("2000000000");
  }

  /** One that admits few jobs a second gets all of them, one second after the other. */
  @Test
  void aQuotaOnlySlowsTheMove() throws Exception {
    int port = OLD.port();
    for (int i = 0; i < 120; i++) {
      Resp.call(port, "ZADD", "many", "2000000000000", "job-" + i);
    }
    try (JavaProcess slow =
        PROGRAMS
            .scheduler(
                "http://127.0.0.1:1",
                REDIS.port(),
                "import-slowly",
                "--eureka.client.enabled=false",
                "--punctual.quota.submits-per-second=50")
            .start()
            .awaitReady()) {
      String[] words = command("sorted-set", "many");
      words[words.length - 1] = "--scheduler=" + slow.url();

      assertThat(PROGRAMS.command(words)).contains("120 jobs were moved.");

      assertThat(
              Http.get(slow.url() + "/api/v1/queues/" + application + "/moved")
                  .json()
                  .get("delayed")
                  .intValue())
          .isEqualTo(120);
    }
    assertThat(Resp.call(port, "DBSIZE")).isEqualTo("0");
  }

  private static String[] withBase64(String... words) {
    String[] all = Arrays.copyOf(words, words.length + 1);
    all[words.length] = "--base64";
    return all;
  }

  @Test
  void whatCannotGoOnSaysSoAndLosesNothing() throws Exception {
    int port = OLD.port();
    Resp.call(port, "ZADD", "kept", "2000000000000", "a");
    String[] nowhere = command("sorted-set", "kept");
    nowhere[nowhere.length - 1] = "--scheduler=http://127.0.0.1:1";

    assertThat(PROGRAMS.command(nowhere))
        .contains("http://127.0.0.1:1/api/v1/jobs/batch did not answer")
        .contains("0 jobs were moved. No job is lost", "Run the same command again to go on.");
    assertThat(PROGRAMS.command(command("sorted-set", "kept"))).contains("1 jobs were moved.");
    assertThat(stored().all()).hasSize(1);

    // An earlier run could read it, and may have submitted it: it is not given back.
    Resp.call(port, "EVAL", "redis.call('ZADD', 'kept', 2000000000000, '\\255')", "0");
    assertThat(PROGRAMS.command(withBase64(nowhere))).contains("did not answer", "No job is lost");
    for (int i = 0; i < 2; i++) {
      assertThat(PROGRAMS.command(command("sorted-set", "kept")))
          .containsOnlyOnce("A job is no text but bytes of a codec")
          .contains("An earlier run took it, and Punctual may have it, so it stays taken")
          .contains("0 jobs were moved. 1 stay taken, since Punctual may have them.");
    }
    assertThat(Resp.call(port, "EXISTS", "kept")).isEqualTo("0");
    assertThat(PROGRAMS.command(command("sorted-set", "kept", "--base64")))
        .contains("1 jobs were moved.");
    assertThat(stored().all()).hasSize(2);
    assertThat(Resp.call(port, "DBSIZE")).isEqualTo("0");

    assertThat(PROGRAMS.command("import-jobs", "sidekiq", "redis://127.0.0.1", "q"))
        .contains("The library is not known. Usage: import-jobs redisson|bullmq|sorted-set");
    assertThat(PROGRAMS.command("import-jobs", "redisson", "redis://127.0.0.1", "q"))
        .contains("--application is missing.");
    assertThat(PROGRAMS.command(command("redisson", "q", "--codec=kryo")))
        .contains("import-jobs has no option --codec.");
    assertThat(PROGRAMS.command(command("redisson", "q", "--zone=Asia/Shanghai")))
        .contains("--zone means nothing for redisson.");
    assertThat(
            PROGRAMS.command(
                "import-jobs",
                "quartz",
                "jdbc:db2://x/y?password=z",
                "q",
                "--application=a",
                "--task-type=t"))
        .contains("No JDBC driver for jdbc:db2:... is there.", "java -cp")
        .doesNotContain("password");
  }
}
