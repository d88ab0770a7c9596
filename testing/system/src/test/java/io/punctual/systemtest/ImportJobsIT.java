package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** Jobs move out of other libraries' queues, which real ones have filled. */
@Tag("full")
class ImportJobsIT {

  private static final RedisServer OLD = RedisServer.startTemporary();
  private static final int JOBS = 100_000;
  private static final int DUE_SOON = 2_000;

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

  private String[] command(String library, String queue, String... more) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "import-jobs",
                library,
                "redis://127.0.0.1:" + OLD.port(),
                queue,
                "--application=" + application,
                "--task-type=moved",
                "--scheduler=" + scheduler.url()));
    words.addAll(Arrays.asList(more));
    return words.toArray(String[]::new);
  }

  /** Both sides run, and the move is ended by force on the way: each job is on one side, once. */
  @SuppressWarnings("deprecation") // That is why one leaves it.
  @Test
  void aDelayedQueueOfRedissonMovesWhileBothSidesRun() throws Exception {
    Config config = new Config();
    config.setCodec(new StringCodec());
    config.useSingleServer().setAddress("redis://127.0.0.1:" + OLD.port());
    RedissonClient redisson = Redisson.create(config);
    Queue<String> ran = new ConcurrentLinkedQueue<>();
    Instant begin = Instant.now();
    Instant soon = begin.plusSeconds(1_800);
    AtomicBoolean ended = new AtomicBoolean();
    try {
      RBlockingQueue<String> ready = redisson.getBlockingQueue("orders");
      RDelayedQueue<String> delayed = redisson.getDelayedQueue(ready);
      fill(delayed);
      Thread worker =
          new Thread(
              () -> {
                while (!ended.get()) {
                  try {
                    String job = ready.poll(100, TimeUnit.MILLISECONDS);
                    if (job != null) {
                      ran.add(job);
                    }
                  } catch (InterruptedException e) {
                    return;
                  }
                }
              },
              "old-worker");
      worker.start();

      Process broken = PROGRAMS.startCommand(command("redisson", "orders"));
      Waiting.until("10,000 jobs are moved", () -> stored().waiting("moved") >= 10_000);
      broken.destroyForcibly().waitFor();
      for (int i = 0; i < 1_000; i++) {
        // The old side still gets some.
        delayed.offer("late-" + i, 1, TimeUnit.HOURS);
      }
      String said = PROGRAMS.command(command("redisson", "orders"));

      assertThat(said).contains("jobs were moved.").doesNotContain("refused");
      assertThat(delayed.size()).isZero();
      delayed.destroy();
      ended.set(true);
      worker.join();
    } finally {
      redisson.shutdown();
    }
    assertThat(stored().all())
        .filteredOn(job -> Instant.parse(job.get("dueAt").stringValue()).isAfter(soon))
        .hasSize(JOBS + 1_000)
        .allSatisfy(
            job ->
                assertThat(Instant.parse(job.get("dueAt").stringValue()))
                    .isBetween(begin.plusSeconds(3_600), Instant.now().plusSeconds(3_600)));
    List<String> all = new ArrayList<>(ran);
    stored().pull("moved").forEach(job -> all.add(job.get("params").stringValue()));
    assertThat(all).doesNotHaveDuplicates().hasSize(JOBS + DUE_SOON + 1_000);
    assertThat(Resp.call(OLD.port(), "DBSIZE")).isEqualTo("0");
  }

  @SuppressWarnings("deprecation")
  private static void fill(RDelayedQueue<String> delayed) {
    for (int i = 0; i < JOBS; i += 1_000) {
      List<CompletableFuture<Void>> offers = new ArrayList<>();
      for (int k = i; k < i + 1_000; k++) {
        offers.add(delayed.offerAsync("later-" + k, 3_600, TimeUnit.SECONDS).toCompletableFuture());
      }
      offers.forEach(CompletableFuture::join);
    }
    for (int i = 0; i < DUE_SOON; i++) {
      delayed.offer("soon-" + i, 5 * i, TimeUnit.MILLISECONDS);
    }
  }

  private StoredJobs stored() {
    return new StoredJobs(scheduler.url(), application);
  }

  @Test
  void delayedJobsOfBullMqMoveAndThoseOfItsOwnSchedulersStay(@TempDir Path directory)
      throws Exception {
    for (String file : List.of("package.json", "package-lock.json", "fill.mjs")) {
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
    Resp.call(OLD.port(), "FLUSHALL");
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
        .contains("2 would be moved, and 0 be refused. Nothing was changed.");
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
    Resp.call(port, "FLUSHALL");
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
