package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.punctual.server.ApiClient.Answer;
import io.punctual.server.metrics.ShortSampling;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.data.Offset;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.json.JsonMapper;

/** What is counted, and that docs/metrics.md says so; on a scheduler whose registry is away. */
@Import(ShortSampling.class)
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      SharedRedisTestBase.ALONE + "=MetricsIT",
      "eureka.client.service-url.defaultZone=http://127.0.0.1:1/eureka/",
      "eureka.client.register-with-eureka=false",
      "punctual.metrics.queues=3"
    })
class MetricsIT extends SharedRedisTestBase {

  private static final JsonMapper JSON = new JsonMapper();
  private static final StreamingWorker WORKER = worker();
  private static final long FAR = System.currentTimeMillis() + 7_200_000;

  /** Has the sampler's first look at the queues end with an error. */
  @TestConfiguration
  static class FirstLookFails {

    private static final AtomicInteger ERRORS = new AtomicInteger();

    @Bean
    MeterFilter firstLookFails() {
      return new MeterFilter() {
        @Override
        public MeterFilterReply accept(Meter.Id id) {
          if (id.getName().equals("punctual.queue.jobs") && ERRORS.compareAndSet(0, 1)) {
            throw new OutOfMemoryError("a test's");
          }
          return MeterFilterReply.NEUTRAL;
        }
      };
    }
  }

  @Test
  void aSubmitSaysThatTheRegistryIsNotReadYet() {
    Answer answer =
        api.post(
            "/api/v1/jobs",
            "{\"application\":\"unread\",\"taskType\":\"mail.send\",\"delay\":\"1h\"}");
    assertThat(answer.body().has("served")).isFalse();
    assertThat(answer.at("/hint"))
        .isEqualTo(
            "this scheduler has not read the registry yet, so it does not know whether a worker runs"
                + " mail.send. The job is stored.");
  }

  @Test
  void anErrorDoesNotEndTheLooksAtTheQueues() {
    Map<String, String> held = Map.of("application", "held", "task_type", "order.close");
    eventually()
        .untilAsserted(
            () ->
                assertThat(value("punctual_queue_jobs", held, "state", "not_due"))
                    .isBetween(1.0, 10.0));
    assertThat(FirstLookFails.ERRORS).hasValue(1);
  }

  private static StreamingWorker worker() {
    try {
      return new StreamingWorker();
    } catch (IOException e) {
      throw new AssertionError("no port", e);
    }
  }

  @DynamicPropertySource
  static void instances(DynamicPropertyRegistry registry) {
    instance(registry, "counted", 0, WORKER.port(), "batch");
    instance(registry, "held", 0, WORKER.port(), "batch");
  }

  @AfterAll
  static void stopWorker() {
    WORKER.close();
  }

  /** The first three that are seen have a name: these two among them, whichever test is first. */
  @BeforeEach
  void haveNames() {
    submit("counted", "first", FAR);
    submit("held", "first", FAR);
  }

  private static void answer() {
    WORKER.on(
        "/callback/counted",
        (request, out) -> {
          for (CallbackRequest.Job job : request.jobs()) {
            String outcome =
                job.taskId().startsWith("never")
                    ? CallbackResult.REJECT
                    : job.taskId().startsWith("twice") && job.attempt() == 1
                        ? CallbackResult.RETRY
                        : CallbackResult.DONE;
            CallbackResult result =
                new CallbackResult(job.taskId(), job.incarnation(), outcome, 10L, "so it is", null);
            out.write((JSON.writeValueAsString(result) + "\n").getBytes(StandardCharsets.UTF_8));
          }
        });
  }

  @Test
  void whatBecomesOfJobsIsCountedByQueueAndOutcome() {
    answer();
    submit("counted", "done-1", 0);
    submit("counted", "never-1", 0);
    submit("counted", "twice-1", 0);

    Map<String, String> tags = Map.of("application", "counted", "task_type", "order.close");
    awaitValue(4, "punctual_jobs_submitted_total", tags, "outcome", "created");
    // As the first one, each time that it is submitted again.
    double again = value("punctual_jobs_submitted_total", tags, "outcome", "already_there");
    submit("counted", "first", FAR);
    awaitValue(again + 1, "punctual_jobs_submitted_total", tags, "outcome", "already_there");
    awaitValue(2, "punctual_jobs_attempts_total", tags, "outcome", "done");
    awaitValue(1, "punctual_jobs_attempts_total", tags, "outcome", "rejected");
    awaitValue(1, "punctual_jobs_attempts_total", tags, "outcome", "failed");
    awaitValue(0, "punctual_jobs_attempts_total", tags, "outcome", "unknown");
    Map<String, String> instance =
        Map.of("application", "counted", "instance", "counted-0", "release", "unknown");
    awaitValue(2, "punctual_instance_attempts_total", instance, "outcome", "done");
    awaitValue(1, "punctual_instance_attempts_total", instance, "outcome", "rejected");
    awaitValue(1, "punctual_instance_attempts_total", instance, "outcome", "failed");
    awaitValue(0, "punctual_instance_attempts_total", instance, "outcome", "unknown");
    awaitValue(1, "punctual_jobs_redeliveries_total", tags, "cause", "failed");
    awaitValue(1, "punctual_jobs_dead_total", tags, "cause", "rejected");
    awaitValue(1, "punctual_queue_jobs", tags, "state", "dead");
    // Once for each job, and not for its second attempt.
    assertThat(value("punctual_jobs_lateness_seconds_count", tags)).isEqualTo(3);
    assertThat(value("punctual_jobs_delivery_seconds_count", tags)).isEqualTo(4);
    double stages = 0;
    for (String stage : new String[] {"retry", "room", "scan", "dispatch"}) {
      stages += value("punctual_jobs_lateness_stage_seconds_sum", tags, "stage", stage);
    }
    assertThat(stages)
        .isCloseTo(value("punctual_jobs_lateness_seconds_sum", tags), Offset.offset(1e-6));
  }

  @Test
  void depthAgeAndNextDueTimeAreSeenInTheStore() {
    CountDownLatch free = new CountDownLatch(1);
    WORKER.on(
        "/callback/held",
        (request, out) -> {
          if (!free.await(30, TimeUnit.SECONDS)) {
            // No assertion: an Error of this thread fails whichever class awaits something just
            // then.
            throw new IOException("not freed within 30 s");
          }
          for (CallbackRequest.Job job : request.jobs()) {
            CallbackResult done =
                new CallbackResult(
                    job.taskId(), job.incarnation(), CallbackResult.DONE, null, null, null);
            out.write((JSON.writeValueAsString(done) + "\n").getBytes(StandardCharsets.UTF_8));
          }
        });
    Map<String, String> held = Map.of("application", "held", "task_type", "order.close");
    submit("held", "now", 0);
    long due = System.currentTimeMillis() + 3_600_000;
    submit("held", "later", due);
    awaitValue(1, "punctual_queue_jobs", held, "state", "reserved");
    awaitValue(2, "punctual_queue_jobs", held, "state", "not_due");
    awaitValue(0, "punctual_queue_parked", held);
    assertThat(value("punctual_queue_next_due_timestamp_seconds", held)).isEqualTo(due / 1e3);
    free.countDown();
    awaitValue(0, "punctual_queue_jobs", held, "state", "reserved");

    // Nobody runs these.
    Map<String, String> other = Map.of("application", "other", "task_type", "other");
    for (int i = 0; i < 5; i++) {
      submit("nobody-" + i, "waits", 0);
    }
    eventually()
        .untilAsserted(
            () ->
                assertThat(value("punctual_queue_jobs", other, "state", "ready"))
                    .isBetween(3.0, 1000.0));
    eventually()
        .untilAsserted(
            () ->
                assertThat(value("punctual_queue_parked", other))
                    .isEqualTo(value("punctual_queue_jobs", other, "state", "ready")));
    double age = value("punctual_queue_oldest_ready_age_seconds", other);
    eventually()
        .untilAsserted(
            () ->
                assertThat(value("punctual_queue_oldest_ready_age_seconds", other))
                    .isGreaterThan(age));
    // Three have a name, and one stands for all others.
    assertThat(
            samples("punctual_jobs_lateness_seconds_count").keySet().stream()
                .map(tags -> tags.get("application")))
        .hasSize(4)
        .contains("other");
  }

  @Test
  void theTableOfMetricsIsWhatTheSchedulerTells() throws IOException {
    answer();
    submit("counted", "done-1", 0);
    eventually()
        .until(
            () ->
                !samples("punctual_queue_jobs").isEmpty()
                    && !samples("punctual_instance_attempts_total").isEmpty());

    assertThat(documented()).isEqualTo(told());
  }

  @ParameterizedTest
  @ValueSource(strings = {"alerts.yml", "alerts-test.yml", "grafana/dashboards/punctual.json"})
  void alertsAndDashboardAskForMetricsThatThereAre(String file) throws IOException {
    TreeSet<String> known = new TreeSet<>();
    documented()
        .forEach(
            (name, type) -> {
              known.add(name);
              if (type.startsWith("histogram")) {
                known.addAll(List.of(name + "_bucket", name + "_sum", name + "_count"));
              }
            });
    TreeSet<String> asked = new TreeSet<>();
    Matcher name =
        Pattern.compile("punctual_\\w+")
            .matcher(Files.readString(Path.of("../deploy/observability").resolve(file)));
    while (name.find()) {
      asked.add(name.group());
    }
    assertThat(asked).hasSizeGreaterThan(5);
    assertThat(known).containsAll(asked);
  }

  @Test
  void aSchedulerWhoseRegistryIsAwayIsReadyAndSaysSo() {
    eventually()
        .untilAsserted(
            () ->
                assertThat(api.get("/actuator/health").at("/components/registry/status"))
                    .isEqualTo("WARNING"));
    assertThat(api.get("/actuator/health/readiness").at("/status")).isEqualTo("UP");
    assertThat(api.get("/actuator/health/liveness").at("/status")).isEqualTo("UP");
    assertThat(api.get("/actuator/health/liveness").at("/components/scanners/status"))
        .isEqualTo("UP");
    assertThat(api.get("/actuator/health").status()).isEqualTo(200);
    assertThat(value("punctual_registry_view_age_seconds", Map.of())).isGreaterThan(0);
  }

  /** Name to type and tags, as the page has it. */
  private static Map<String, String> documented() throws IOException {
    Pattern row =
        Pattern.compile("^\\| `(punctual_\\w+)` \\| (\\w+) \\| ((?:`\\w+`(?:, )?)*) ?\\|.*");
    Map<String, String> all = new TreeMap<>();
    for (String line : Files.readAllLines(Path.of("../docs/metrics.md"))) {
      Matcher parts = row.matcher(line);
      if (parts.matches()) {
        TreeSet<String> tags = new TreeSet<>();
        for (String tag : parts.group(3).replace("`", "").split(", ", -1)) {
          if (!tag.isEmpty()) {
            tags.add(tag);
          }
        }
        all.put(parts.group(1), parts.group(2) + " " + tags);
      }
    }
    assertThat(all).isNotEmpty();
    return all;
  }

  /** The same, as the scheduler says it. */
  private Map<String, String> told() {
    Map<String, String> types = new TreeMap<>();
    Map<String, TreeSet<String>> tags = new TreeMap<>();
    for (String line : api.get("/actuator/prometheus").text().lines().toList()) {
      String[] words = line.split(" ", -1);
      if (line.startsWith("# TYPE punctual_")) {
        types.put(words[2], words[3]);
      } else if (line.startsWith("punctual_")) {
        String name = words[0].replaceFirst("\\{.*", "");
        TreeSet<String> of = tags.computeIfAbsent(name, key -> new TreeSet<>());
        Matcher label = Pattern.compile("(\\w+)=\"").matcher(line);
        while (label.find()) {
          if (!label.group(1).equals("le")) {
            of.add(label.group(1));
          }
        }
      }
    }
    Map<String, String> all = new TreeMap<>();
    types.forEach(
        (name, type) -> {
          String counted = type.equals("histogram") ? name + "_count" : name;
          String whole = name.replaceFirst("_max$", "");
          if (whole.equals(name) || !"histogram".equals(types.get(whole))) {
            all.put(name, type + " " + tags.get(counted));
          }
        });
    return all;
  }

  private void submit(String application, String id, long due) {
    int status =
        api.post(
                "/api/v1/jobs",
                "{\"application\":\"%s\",\"taskType\":\"order.close\",\"taskId\":\"%s\",\"delayTime\":%d}"
                    .formatted(application, id, due))
            .status();
    assertThat(status).isIn(200, 201);
  }

  /** Tags to value. */
  private Map<Map<String, String>, Double> samples(String name) {
    Map<Map<String, String>, Double> found = new HashMap<>();
    api.get("/actuator/prometheus")
        .text()
        .lines()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .forEach(
            line -> {
              Map<String, String> tags = new TreeMap<>();
              Matcher label = Pattern.compile("(\\w+)=\"([^\"]*)\"").matcher(line);
              while (label.find()) {
                tags.put(label.group(1), label.group(2));
              }
              found.put(tags, Double.valueOf(line.substring(line.lastIndexOf(' ') + 1)));
            });
    return found;
  }

  private double value(String name, Map<String, String> tags, String... more) {
    Map<String, String> all = new TreeMap<>(tags);
    for (int i = 0; i < more.length; i += 2) {
      all.put(more[i], more[i + 1]);
    }
    return samples(name).getOrDefault(all, Double.NaN);
  }

  private void awaitValue(double expected, String name, Map<String, String> tags, String... more) {
    eventually().untilAsserted(() -> assertThat(value(name, tags, more)).isEqualTo(expected));
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().pollInterval(Duration.ofMillis(50)).atMost(Duration.ofSeconds(30));
  }
}
