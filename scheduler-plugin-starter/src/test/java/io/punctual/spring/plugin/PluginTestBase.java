package io.punctual.spring.plugin;

import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.tracing.test.simple.SimpleTracer;
import io.punctual.DelayedTask;
import io.punctual.TaskContext;
import io.punctual.TaskHeader;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.core.Engine;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.query.JobView;
import io.punctual.spi.JobAttempt;
import io.punctual.spi.JobListener;
import io.punctual.test.redis.RedisExtension;
import io.punctual.test.redis.SharedRedis;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** A whole application in plugin mode on a real Redis; its own connections are by Lettuce. */
abstract class PluginTestBase {

  static final QueueName QUEUE = new QueueName("shop", "script");
  static final SharedRedis redis = RedisExtension.redis();

  final String prefix = "t" + UUID.randomUUID().toString().substring(0, 8);
  ConfigurableApplicationContext context;
  TaskSubmitService service;
  Engine engine;
  Script script;

  @BeforeEach
  void startApplication() {
    context = application();
    service = context.getBean(TaskSubmitService.class);
    engine = context.getBean(Engine.class);
    script = context.getBean(Script.class);
  }

  @AfterEach
  void stopApplication() {
    context.close();
  }

  ConfigurableApplicationContext application() {
    return Shop.start(redis.host(), redis.port(), prefix);
  }

  JobView find(String taskId) {
    return engine.find(QUEUE, taskId).orElseThrow();
  }

  JobView.Failure error(String taskId) {
    return Objects.requireNonNull(find(taskId).lastFailure());
  }

  static ConditionFactory eventually() {
    return Awaitility.await().pollInterval(Duration.ofMillis(10)).atMost(Duration.ofSeconds(30));
  }

  JobView approval(String taskId) {
    return engine.find(new QueueName("shop", "approve"), taskId).orElseThrow();
  }

  JobView future(String taskId) {
    return engine.find(new QueueName("shop", "future"), taskId).orElseThrow();
  }

  /** An application as a user writes it. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Shop {

    static ConfigurableApplicationContext start(String host, int port, String prefix) {
      return new SpringApplicationBuilder(Shop.class)
          .properties(
              "spring.application.name=SHOP",
              "spring.data.redis.host=" + host,
              "spring.data.redis.port=" + port,
              "punctual.key-prefix=" + prefix,
              "punctual.concurrency=4",
              "punctual.workers.other.concurrency=2",
              "punctual.shutdown-patience=10s",
              "spring.main.banner-mode=off")
          .run();
    }

    @Bean
    TestObservationRegistry observations() {
      return TestObservationRegistry.create();
    }

    @Bean
    SimpleTracer tracer() {
      return new SimpleTracer();
    }

    @Bean
    Script script() {
      return new Script();
    }

    @Bean
    Closer closer() {
      return new Closer();
    }

    @Bean
    Approvals approvals() {
      return new Approvals();
    }

    @Bean
    Futures futures() {
      return new Futures();
    }

    @Bean
    Ear ear() {
      return new Ear();
    }

    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    JobListener broken() {
      return attempt -> {
        throw new IllegalStateException("a listener that fails");
      };
    }
  }

  record CloseOrder(long number) {}

  /** Wants a second attempt. */
  static class Closer {

    final Queue<String> calls = new ConcurrentLinkedQueue<>();

    @DelayedTask("order.close")
    void close(CloseOrder order, @TaskHeader("by") String by, TaskContext context) {
      calls.add(order.number() + " by " + by + ", attempt " + context.attempt());
      if (context.attempt() == 1) {
        throw context.retryAfter(Duration.ofMillis(20));
      }
    }
  }

  /** Leaves its jobs to somebody else. */
  static class Approvals {

    final Map<String, String> handles = new ConcurrentHashMap<>();

    @DelayedTask("approve")
    void approve(TaskContext context) {
      handles.put(context.taskId(), context.defer(Duration.ofHours(1)));
    }

    String handle(String taskId) {
      return Objects.requireNonNull(handles.get(taskId));
    }
  }

  /** Returns futures that the test completes. */
  static class Futures {

    final Map<String, CompletableFuture<String>> begun = new ConcurrentHashMap<>();
    final Map<String, TaskContext> contexts = new ConcurrentHashMap<>();

    @DelayedTask("future")
    CompletableFuture<String> future(TaskContext context) {
      contexts.put(context.taskId(), context);
      CompletableFuture<String> future =
          begun.computeIfAbsent(context.taskId(), id -> new CompletableFuture<>());
      if (done) {
        future.complete("");
      }
      return future;
    }

    volatile boolean done;

    void completeAll() {
      done = true;
      begun.values().forEach(future -> future.complete(""));
    }

    void complete(String taskId) {
      Objects.requireNonNull(begun.get(taskId)).complete("");
    }

    void fail(String taskId, RuntimeException error) {
      Objects.requireNonNull(begun.get(taskId)).completeExceptionally(error);
    }
  }

  /** Remembers what it was told. */
  static final class Ear implements JobListener {

    final Queue<JobAttempt> heard = new ConcurrentLinkedQueue<>();

    @Override
    public void ended(JobAttempt attempt) {
      heard.add(attempt);
    }
  }

  /** A worker that does what the test says, by params. */
  static final class Script implements TaskWorker {

    final Queue<String> calls = new ConcurrentLinkedQueue<>();
    private final Map<String, Runnable> acts = new ConcurrentHashMap<>();

    void on(String params, Runnable act) {
      acts.put(params, act);
    }

    @Override
    public String type() {
      return "script";
    }

    @Override
    public void invoke(String params) {
      calls.add(params);
      acts.getOrDefault(params, () -> {}).run();
    }
  }
}
