package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import io.punctual.systemtest.amqp.AmqpShop;
import io.punctual.test.rabbitmq.RabbitServer;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Delayed messages of RabbitMQ while everything that carries them is killed. */
@Tag("full")
class AmqpDeathIT {

  private static final int MESSAGES = 2_000;
  private static final int CONCURRENCY = 20;
  private static final String EXCHANGE = "orders";

  /** Nothing reads it until the end: it has each message that was published. */
  private static final String LEDGER = "ledger";

  /** Its consumer notes when each message came first. */
  private static final String LIVE = "live";

  private final String application = "amqp-" + UUID.randomUUID().toString().substring(0, 8);
  private final Submitter submitter = new Submitter(application, "amqp.publish");
  private final Set<String> live = ConcurrentHashMap.newKeySet();
  private final Queue<String> early = new ConcurrentLinkedQueue<>();

  @Test
  void eachMessageArrivesThoughSchedulerWorkerAndRabbitMqAreKilled() throws Exception {
    try (RabbitServer rabbit = RabbitServer.start(SharedSystem.DIRECTORY.resolve("rabbitmq"));
        JavaProcess scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), application).start();
        JavaProcess worker =
            PROGRAMS
                .amqpApplication(
                    REGISTRY,
                    AmqpShop.class,
                    "--spring.application.name=" + application,
                    // The registry shows those of other tests, too.
                    "--punctual.url=" + scheduler.url(),
                    "--spring.rabbitmq.host=127.0.0.1",
                    "--spring.rabbitmq.port=" + rabbit.port(),
                    "--management.endpoint.health.probes.enabled=true",
                    "--punctual.callback.accept-unsigned=true",
                    "--punctual.concurrency=" + CONCURRENCY)
                .start()) {
      scheduler.awaitReady();
      worker.awaitReady();
      declare(rabbit);
      try (Connection reader = read(rabbit)) {
        assertThat(reader.isOpen()).isTrue();
        // Of each third, most is due after the kill that follows.
        send(worker, 0, 800);
        Waiting.until("some are published", () -> published(rabbit) > 100);
        rabbit.kill();
        // After 50 failures in a row, the queue waits and one job probes from time to time.
        Waiting.until(
            "attempts fail",
            () -> submitter.queue(scheduler).get("counters").path("failed").asInt(0) > 20);
        rabbit.start();
        Waiting.until("more are published", () -> published(rabbit) > 500);
        send(worker, 800, 600);
        worker.kill();
        Waiting.until("deliveries fail", () -> broken(submitter.queue(scheduler)) > 0);
        worker.start().awaitReady();
        Waiting.until("more are published", () -> published(rabbit) > 1_000);
        send(worker, 1_400, 600);
        scheduler.kill();
        scheduler.start().awaitReady();

        Waiting.until(
            "all jobs are done", Duration.ofMinutes(4), () -> submitter.drained(scheduler));
        Waiting.until("all messages were read", () -> live.size() == MESSAGES);
      }
      account(rabbit, submitter.queue(scheduler));
    }
  }

  private void account(RabbitServer rabbit, JsonNode queue) throws Exception {
    Map<String, Integer> times = ledger(rabbit);
    int repeats = times.values().stream().mapToInt(Integer::intValue).sum() - times.size();
    System.out.printf(
        "Of %,d delayed messages, %,d arrived, %d more than once (%d repeats), %d early; counters of"
            + " the queue: %s%n",
        MESSAGES,
        times.size(),
        times.values().stream().filter(count -> count > 1).count(),
        repeats,
        early.size(),
        queue.get("counters"));
    assertThat(times).hasSize(MESSAGES);
    assertThat(early).isEmpty();
    assertThat(queue.get("dead").intValue()).isZero();
    // Each kill cost attempts: RabbitMQ's failed ones, the others' unknown or undeliverable ones.
    JsonNode counters = queue.get("counters");
    assertThat(counters.path("done").asInt(0)).isEqualTo(MESSAGES);
    assertThat(counters.path("failed").asInt(0)).isPositive();
    assertThat(broken(queue)).isPositive();
    // At each of three kills, what was published and not yet acknowledged.
    assertThat(repeats).isLessThanOrEqualTo(3 * CONCURRENCY);
  }

  private static int broken(JsonNode queue) {
    JsonNode counters = queue.get("counters");
    return counters.path("unknown").asInt(0) + counters.path("undeliverable").asInt(0);
  }

  /** Sends messages that are due from three seconds later on, a hundred a second. */
  private static void send(JavaProcess worker, int first, int count) throws Exception {
    Http.Answer answer =
        Http.post(
            "%s/messages?first=%d&count=%d&delay=3000&apart=10"
                .formatted(worker.url(), first, count),
            "",
            Duration.ofSeconds(60));
    assertThat(answer.status()).isEqualTo(200);
  }

  private static Connection connect(RabbitServer rabbit) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setHost("127.0.0.1");
    factory.setPort(rabbit.port());
    factory.setNetworkRecoveryInterval(500);
    return factory.newConnection();
  }

  private static void declare(RabbitServer rabbit) throws Exception {
    try (Connection connection = connect(rabbit);
        Channel channel = connection.createChannel()) {
      channel.exchangeDeclare(EXCHANGE, "topic", true);
      for (String queue : new String[] {LEDGER, LIVE}) {
        channel.queueDeclare(queue, true, false, false, Map.of());
        channel.queueBind(queue, EXCHANGE, "order.#");
      }
    }
  }

  /** Reads until it is closed, also after RabbitMQ was away. */
  private Connection read(RabbitServer rabbit) throws Exception {
    Connection connection = connect(rabbit);
    Channel channel = connection.createChannel();
    channel.basicConsume(
        LIVE,
        false,
        (tag, message) -> {
          String id = message.getProperties().getMessageId();
          long earliest = (Long) message.getProperties().getHeaders().get("earliest");
          if (System.currentTimeMillis() < earliest) {
            early.add(id);
          }
          live.add(id);
          channel.basicAck(message.getEnvelope().getDeliveryTag(), false);
        },
        tag -> {});
    return connection;
  }

  private static long published(RabbitServer rabbit) throws Exception {
    try (Connection connection = connect(rabbit);
        Channel channel = connection.createChannel()) {
      return channel.messageCount(LEDGER);
    }
  }

  private static Map<String, Integer> ledger(RabbitServer rabbit) throws Exception {
    Map<String, Integer> times = new TreeMap<>();
    try (Connection connection = connect(rabbit);
        Channel channel = connection.createChannel()) {
      for (GetResponse got = channel.basicGet(LEDGER, true);
          got != null;
          got = channel.basicGet(LEDGER, true)) {
        times.merge(got.getProps().getMessageId(), 1, Integer::sum);
      }
    }
    return times;
  }
}
