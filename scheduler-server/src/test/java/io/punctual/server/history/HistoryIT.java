package io.punctual.server.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Resp;
import io.punctual.server.SharedRedisTestBase;
import io.punctual.server.metrics.QueueRounds;
import io.punctual.server.metrics.RecentLateness;
import io.punctual.server.metrics.ShortSampling;
import io.punctual.server.registry.InstanceSource;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.test.redis.RedisExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.core.StringRedisTemplate;

/** A day that survives schedulers, with its keys for each test. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
@Import(ShortSampling.class)
class HistoryIT extends SharedRedisTestBase {

  // They stop, and say so: none has to be found dead, however slow the machine is.
  private static final HistorySampler.Pace SHORT =
      new HistorySampler.Pace(Duration.ofMillis(200), Duration.ofMinutes(1));

  private static final Duration LIFE = Duration.ofSeconds(30);

  @Autowired private StringRedisTemplate redis;
  @Autowired private QueueRounds rounds;
  @Autowired private RecentLateness lateness;
  @Autowired private WorkerDirectory workers;
  @Autowired private Environment environment;

  private String key = "";
  private History history;

  @BeforeEach
  void begin() {
    String own = prefix + "-" + UUID.randomUUID().toString().substring(0, 8);
    key = own + ":history";
    history = new History(redis, own);
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().atMost(Duration.ofSeconds(60));
  }

  private HistorySampler scheduler() {
    return scheduler(workers);
  }

  private HistorySampler scheduler(WorkerDirectory seen) {
    HistorySampler sampler =
        new HistorySampler(history, rounds, lateness, seen, environment, SHORT);
    sampler.start();
    return sampler;
  }

  private void submit(String id) {
    String job = "{\"application\":\"past\",\"taskType\":\"a\",\"taskId\":\"%s\",\"delay\":\"1h\"}";
    assertThat(api.post("/api/v1/jobs", job.formatted(id + UUID.randomUUID())).status())
        .isEqualTo(201);
  }

  private List<Point> points() {
    List<Point> points = new ArrayList<>();
    for (String text : redis.opsForList().range(key, 0, -1)) {
      points.add(Point.parse(text));
    }
    return points.reversed();
  }

  @Test
  void oneOfTwoSchedulersSamplesAndWhatNoneSampledStaysAGap() {
    submit("first");
    HistorySampler first = scheduler();
    HistorySampler second = scheduler();
    try {
      eventually().until(() -> redis.opsForHash().size(key + ":samplers") == 2);
      eventually()
          .until(
              () -> {
                submit("more");
                // A job that came while the work changed hands is in no point.
                return points().size() >= 2
                    && points().stream().anyMatch(point -> point.submitted() > 0);
              });
      // The one that goes leaves the work to the other.
      first.stop();
      int before = points().size();
      eventually().until(() -> points().size() >= before + 2);
    } finally {
      first.stop();
      second.stop();
    }
    List<Point> both = points();
    for (int i = 1; i < both.size(); i++) {
      assertThat(both.get(i).begin()).isGreaterThanOrEqualTo(both.get(i - 1).at());
    }
    assertThat(both).anyMatch(point -> point.submitted() > 0);
    assertThat(both.getLast().notDue()).isPositive();
    assertThat(redis.opsForHash().size(key + ":samplers")).isZero();

    long stopped = both.getLast().at();
    // The first round of looks that a sampler finds may have ended before it began.
    eventually().until(() -> history.now() > stopped + 5_000);
    HistorySampler restarted = scheduler();
    try {
      eventually().until(() -> points().getLast().at() > stopped);
    } finally {
      restarted.stop();
    }
    History another = new History(redis, key.replace(":history", ""));
    Past past = another.read(Span.QUARTER);
    assertThat(past.gaps())
        .anySatisfy(
            gap -> {
              assertThat(gap.from()).isEqualTo(stopped);
              assertThat(gap.until() - gap.from()).isGreaterThan(2_500);
            });
    assertThat(past.marks()).filteredOn(mark -> mark.kind() == Mark.Kind.START).hasSize(3);
    assertThat(past.submitted()).isPositive();
  }

  @Test
  void aSchedulerThatSaysNothingMoreIsReplacedAndTheLatestLatenessCounts() {
    Samplers one = new Samplers(redis, key, LIFE);
    Samplers other = new Samplers(redis, key, LIFE);
    assertThat(one.turn(100_000, new RecentLateness.Quantiles(5, 25)))
        .isEqualTo(new Samplers.Turn(true, 5L, 25L));
    assertThat(other.turn(100_001, new RecentLateness.Quantiles(2.5, Double.POSITIVE_INFINITY)))
        .isEqualTo(new Samplers.Turn(false, 5L, 3_600_000L));
    assertThat(one.turn(120_000, null)).isEqualTo(new Samplers.Turn(true, 3L, 3_600_000L));
    redis.opsForHash().put(key, "foreign", "what another program wrote");
    redis.opsForHash().put(key, "future", "1 9999999999999 - -");
    assertThat(other.turn(150_001, null)).isEqualTo(new Samplers.Turn(true, null, null));
    assertThat(redis.opsForHash().size(key)).isEqualTo(1);
    assertThat(redis.getExpire(key)).isBetween(1L, 2 * LIFE.toSeconds());
  }

  @Test
  void aDayTakesLessThanAMegabyteAndNoMoreIsKept() throws Exception {
    long end = history.now();
    List<String> day = new ArrayList<>();
    for (int i = 0; i < History.MOST_POINTS + 100; i++) {
      day.add(
          new Point(
                  end - (History.MOST_POINTS + 100 - i) * 10_000L,
                  10_000,
                  20_000 + i,
                  20_000 + i,
                  1_000,
                  100,
                  1_000_000 + i,
                  100_000,
                  5_000,
                  25L,
                  300_000L)
              .text());
    }
    redis.opsForList().leftPushAll(key, day);
    history.add(new Point(end, 10_000, 0, 0, 0, 0, 0, 0, 0, null, null));

    assertThat(redis.opsForList().size(key)).isEqualTo(History.MOST_POINTS);
    long bytes =
        Long.parseLong(
            Resp.call(RedisExtension.redis().port(), "MEMORY", "USAGE", key, "SAMPLES", "0")
                .strip());
    assertThat(bytes).isBetween(500_000L, 1_000_000L);
    Past past = history.read(Span.DAY);
    assertThat(past.unreadable()).isZero();
    assertThat(past.intervals(Span.DAY.width())).hasSize(144);
    assertThat(past.gaps()).hasSizeLessThanOrEqualTo(1);
    assertThat(past.most(60_000)).isPresent();
  }

  @Test
  void foreignTextsAndPointsOfAnotherClockDoNoHarm() {
    long now = history.now();
    redis
        .opsForList()
        .leftPush(key, new Point(now - 20_000, 10_000, 0, 7, 0, 0, 0, 0, 0, null, null).text());
    redis.opsForList().leftPush(key, "what another program wrote");
    // Two schedulers, for a moment.
    redis
        .opsForList()
        .leftPush(key, new Point(now - 12_000, 10_000, 0, 5, 0, 0, 0, 0, 0, null, null).text());
    redis
        .opsForList()
        .leftPush(key, new Point(now - 10_000, 10_000, 0, 5, 0, 0, 0, 0, 0, null, null).text());
    // Redis's clock was an hour ahead.
    redis
        .opsForList()
        .leftPush(key, new Point(now + 3_600_000, 10_000, 0, 9, 0, 0, 0, 0, 0, null, null).text());
    redis.opsForList().leftPush(key + ":marks", "garbage");
    history.mark(Mark.Kind.BULK, "requeue app:shop");
    history.mark(Mark.Kind.BULK, "requeue app:shop");

    Past past = history.read(Span.QUARTER);

    assertThat(past.unreadable()).isEqualTo(2);
    assertThat(past.done()).isEqualTo(12);
    assertThat(past.marks()).extracting(Mark::text).containsExactly("requeue app:shop");
  }

  @Test
  void fiftyPausesOneAfterTheOtherAreTwoMarks() {
    AtomicLong nanos = new AtomicLong();
    History paused = new History(redis, key.replace(":history", ""), nanos::get);
    for (int i = 0; i < 50; i++) {
      paused.mark(Mark.Kind.PAUSE, "shop/" + i);
      paused.mark(Mark.Kind.BULK, "requeue app:shop");
    }
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(9));
    paused.endBursts();
    assertThat(paused.read(Span.QUARTER).marks())
        .extracting(Mark::text)
        .containsExactly("shop/0", "requeue app:shop");

    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    paused.mark(Mark.Kind.PAUSE, "mail/0");

    assertThat(new History(redis, key.replace(":history", "")).read(Span.QUARTER).marks())
        .extracting(Mark::text)
        .containsExactly("shop/0", "requeue app:shop", "shop/1 (+48)", "mail/0");
  }

  @Test
  void theLastOfItsMarksSaysWhetherAQueueIsPaused() {
    AtomicLong nanos = new AtomicLong();
    History marked = new History(redis, key.replace(":history", ""), nanos::get);
    marked.mark(Mark.Kind.PAUSE, "a");
    marked.mark(Mark.Kind.PAUSE, "b");
    marked.mark(Mark.Kind.PAUSE, "a");
    marked.mark(Mark.Kind.RESUME, "b");
    marked.mark(Mark.Kind.RESUME, "a");
    marked.mark(Mark.Kind.PAUSE, "a");
    marked.mark(Mark.Kind.PAUSE, "c");
    marked.endAllBursts();

    assertThat(marked.read(Span.QUARTER).marks())
        .extracting(mark -> mark.kind().word() + " " + mark.text())
        .containsExactly("pause a", "pause b", "resume b", "resume a", "pause a", "pause c");
  }

  @Test
  void onlyAReleaseThatIsNewIsMarked() {
    history.releases("shop", List.of("2.14.0"));
    history.releases("shop", List.of("2.14.0", "2.15.0"));
    history.releases("shop", List.of("2.15.0"));
    history.releases("mail", List.of("1"));
    for (int i = 0; i < History.MOST_MARKS + 5; i++) {
      history.mark(Mark.Kind.START, "scheduler-" + i);
    }
    assertThat(redis.opsForList().size(key + ":marks")).isEqualTo(History.MOST_MARKS);
    history.releases("mail", List.of("2"));

    assertThat(history.read(Span.QUARTER).marks())
        .filteredOn(mark -> mark.kind() == Mark.Kind.RELEASE)
        .extracting(Mark::text)
        .containsExactly("mail 2");
  }

  @Test
  void aReleaseThatTheRegistryShowsIsMarkedOnce() {
    AtomicReference<String> release = new AtomicReference<>("2.14.0");
    InstanceSource registry =
        new InstanceSource() {
          @Override
          public String name() {
            return "of the test";
          }

          @Override
          public List<String> applications() {
            return List.of("shop");
          }

          @Override
          public List<ServiceInstance> instances(String application) {
            Map<String, String> metadata =
                Map.of("punctual.task-types", "a", "punctual.release", release.get());
            return List.of(
                new DefaultServiceInstance("shop-1", "shop", "127.0.0.1", 9, false, metadata));
          }
        };
    HistorySampler sampler = scheduler(new WorkerDirectory(List.of(registry), false));
    try {
      eventually().until(() -> redis.opsForZSet().size(key + ":releases") == 2);
      release.set("2.15.0");
      eventually().until(() -> redis.opsForZSet().size(key + ":releases") == 3);
      eventually().until(() -> !released().isEmpty());
    } finally {
      sampler.stop();
    }
    assertThat(released()).singleElement().asString().endsWith(" release shop 2.15.0");
  }

  private List<String> released() {
    return redis.opsForList().range(key + ":marks", 0, -1).stream()
        .filter(mark -> mark.contains(" release "))
        .toList();
  }

  @Test
  void theApiTellsThePast() {
    submit("api");
    assertThat(api.post("/api/v1/queues/past/a/pause", "").status()).isEqualTo(200);
    assertThat(api.post("/api/v1/queues/past/a/resume", "").status()).isEqualTo(200);

    eventually()
        .untilAsserted(
            () ->
                assertThat(api.get("/api/v1/history?range=15m").body().get("marks"))
                    .extracting(mark -> mark.get("kind").asString())
                    .contains("start", "pause", "resume"));
    assertThat(api.get("/api/v1/history?range=15m").at("/intervalMs")).isEqualTo("10000");
    assertThat(api.get("/api/v1/history").body().get("intervals")).hasSize(120);
    assertThat(api.get("/api/v1/history?range=2h").status()).isEqualTo(400);
    assertThat(api.get("/api/v1/history?range=2h").at("/detail")).contains("15m, 1h, 6h or 24h");
  }
}
