package io.punctual.systemtest.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Percentage.withPercentage;

import io.punctual.DelayQueueJob;
import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.Submit;
import io.punctual.core.job.QueueName;
import io.punctual.core.runtime.Engines;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.RedisServer;
import io.punctual.systemtest.ModuleDirectory;
import io.punctual.systemtest.Waiting;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.Jedis;

/** The calculator of docs/size.md, compared with a real Redis and with the page's table. */
@Tag("full")
class SizePageIT {

  private static final String APPLICATION = "shop";
  private static final String TYPE = "order.close";
  private static final QueueName QUEUE = new QueueName(APPLICATION, TYPE);
  private static final String SUBMITTER = "shop/k3vq";
  private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  private static final String INSTANCE = "shop-7d9f5c:8081";
  private static final int WARM_UP = 1_000;
  private static final int AT_ONCE = 1_000;
  private static final int MOST_OFF_PERCENT = 15;

  private RedisServer server;
  private JedisConnectionFactory connections;
  private Engine engine;

  /** Ends each job that is due at once. */
  private static final class Ending implements Dispatcher {

    @Override
    public int capacity(QueueName queue) {
      return AT_ONCE;
    }

    @Override
    public void dispatch(QueueName queue, List<Delivery> deliveries) {
      for (Delivery delivery : deliveries) {
        delivery.started();
        delivery.done(INSTANCE).exceptionally(failure -> null);
      }
    }
  }

  @BeforeEach
  void start() {
    server = RedisServer.startTemporary("--appendonly", "no");
    connections =
        new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", server.port()));
    connections.afterPropertiesSet();
    connections.start();
    engine =
        Engines.create(
            RedisStore.connect(connections, StoreOptions.DEFAULTS),
            EngineOptions.defaults("size"),
            new Ending());
    engine.start();
  }

  @AfterEach
  void stop() {
    engine.close();
    connections.destroy();
    server.close();
  }

  @ParameterizedTest
  @CsvSource({
    "50000, 100, 36, 0, false",
    "50000, 100, 16, 0, false",
    "50000, 1000, 36, 1, true",
    "20000, 10000, 36, 2, false",
  })
  void waitingJobsTakeWhatTheCalculatorSays(int jobs, int payload, int id, int tags, boolean traced)
      throws Exception {
    DelayQueueJob.Builder job =
        DelayQueueJob.of(TYPE).delay(Duration.ofHours(1)).params("x".repeat(payload));
    if (traced) {
      job.header("traceparent", TRACE);
    }
    for (int tag = 0; tag < tags; tag++) {
      job.tag("order:%014d".formatted(tag));
    }
    submit(job, "w", WARM_UP, id);
    long before = used();
    submit(job, "j", jobs, id);
    double measured = (double) (used() - before) / jobs;
    double said =
        calculate(
            "waitingJob({jobs: %d, payload: %d, id: %d, tags: %d, tag: 20, traced: %b})"
                .formatted(jobs + WARM_UP, payload, id, tags, traced));
    System.out.printf(
        "%d waiting jobs, payload %d, id %d, tags %d, traced %b: %.0f bytes a job, said %.0f%n",
        jobs, payload, id, tags, traced, measured, said);
    assertThat(said).isCloseTo(measured, withPercentage(MOST_OFF_PERCENT));
    // What the payload takes must not hide an error in the rest.
    assertThat(said - payload).isCloseTo(measured - payload, withPercentage(2 * MOST_OFF_PERCENT));
  }

  @ParameterizedTest
  @CsvSource({"50000, 100, 36", "50000, 100, 16", "20000, 10000, 36"})
  void endedJobsTakeWhatTheCalculatorSays(int jobs, int payload, int id) throws Exception {
    DelayQueueJob.Builder job =
        DelayQueueJob.of(TYPE).delay(Duration.ZERO).params("x".repeat(payload));
    submit(job, "w", WARM_UP, id);
    awaitEnds();
    long before = used();
    submit(job, "j", jobs, id);
    awaitEnds();
    double measured = (double) (used() - before) / jobs;
    double said = calculate("endedJob({jobs: %d, id: %d})".formatted(jobs + WARM_UP, id));
    System.out.printf(
        "%d ended jobs, payload %d, id %d: %.0f bytes a job, said %.0f%n",
        jobs, payload, id, measured, said);
    assertThat(said).isCloseTo(measured, withPercentage(MOST_OFF_PERCENT));
  }

  @Test
  void thePageHasTheCalculatorsExamples() throws Exception {
    List<String> rows = node("console.log(size.rows().join('\\n'))").lines().toList();
    assertThat(rows).hasSizeGreaterThan(3);
    assertThat(Files.readAllLines(ModuleDirectory.root().resolve("docs/size.md")))
        .containsSequence(rows);
  }

  private void submit(DelayQueueJob.Builder job, String prefix, int jobs, int id) {
    List<CompletableFuture<Submit>> calls = new ArrayList<>();
    for (int i = 0; i < jobs; i++) {
      String number = Integer.toString(i);
      String taskId = prefix + "0".repeat(id - prefix.length() - number.length()) + number;
      calls.add(engine.submit(APPLICATION, job.taskId(taskId).build(), SUBMITTER));
      if (calls.size() == AT_ONCE || i == jobs - 1) {
        calls.forEach(CompletableFuture::join);
        calls.clear();
      }
    }
  }

  private void awaitEnds() {
    Waiting.until(
        "all jobs have ended",
        () ->
            engine
                .stats(QUEUE)
                .map(stats -> stats.delayed() + stats.reserved() == 0)
                .orElse(false));
  }

  private long used() {
    try (Jedis jedis = new Jedis("127.0.0.1", server.port())) {
      return jedis
          .info("memory")
          .lines()
          .filter(line -> line.startsWith("used_memory:"))
          .mapToLong(line -> Long.parseLong(line.substring("used_memory:".length()).strip()))
          .findFirst()
          .orElseThrow();
    }
  }

  private static double calculate(String call) throws IOException, InterruptedException {
    return Double.parseDouble(node("console.log(size." + call + ")").strip());
  }

  /** Runs a line of JavaScript, for which {@code size} is the calculator. */
  private static String node(String code) throws IOException, InterruptedException {
    Path calculator = ModuleDirectory.root().resolve("docs/.vitepress/size.mjs");
    Process process =
        new ProcessBuilder(
                "node",
                "--input-type=module",
                "--eval",
                "import * as size from '%s'; %s"
                    .formatted(calculator.toAbsolutePath().normalize().toUri(), code))
            .redirectErrorStream(true)
            .start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(out).isZero();
    return out;
  }
}
