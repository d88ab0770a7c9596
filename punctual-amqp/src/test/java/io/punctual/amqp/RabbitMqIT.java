package io.punctual.amqp;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import io.punctual.JobInfo;
import io.punctual.TaskSubmitService;
import io.punctual.test.rabbitmq.RabbitServer;
import java.nio.file.Path;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.context.ConfigurableApplicationContext;

/** Publishes delayed messages to a real RabbitMQ. */
@Tag("full")
class RabbitMqIT {

  private static final String TYPE = DelayedRabbitTemplate.TASK_TYPE;
  private static final String PLAIN = "spring.rabbitmq.publisher-confirm-type=none";
  private static final String CONFIRMS = "spring.rabbitmq.publisher-confirm-type=correlated";
  private static final String SIMPLE = "spring.rabbitmq.publisher-confirm-type=simple";
  private static final String TWO_ATTEMPTS = "punctual.workers[amqp.publish].retry=100ms";

  private static final String QUICK =
      "punctual.workers[amqp.publish].retry=exponential(50ms,200ms);attempts=1000";

  /** Ten attempts without a place take many seconds: a slow machine declares a queue in time. */
  private static final String PATIENT =
      "punctual.workers[amqp.publish].retry=exponential(100ms,2s);attempts=1000";

  private static RabbitServer server;

  private final String exchange = "e-" + UUID.randomUUID().toString().substring(0, 8);
  private final String queue = exchange + ".queue";
  private Connection connection;
  private Channel channel;

  @BeforeAll
  static void start() {
    server = RabbitServer.start(Path.of("target", "rabbitmq-" + ProcessHandle.current().pid()));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void connect() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setHost("127.0.0.1");
    factory.setPort(server.port());
    connection = factory.newConnection();
    channel = connection.createChannel();
    channel.exchangeDeclare(exchange, "topic", true);
  }

  @AfterEach
  void disconnect() {
    connection.abort();
  }

  private void bind(String routingKey, Map<String, Object> arguments) throws Exception {
    channel.queueDeclare(queue, true, false, false, arguments);
    channel.queueBind(queue, exchange, routingKey);
  }

  private GetResponse next() {
    AtomicReference<GetResponse> got = new AtomicReference<>();
    Awaitility.await("a message comes to " + queue)
        .until(
            () -> {
              got.set(channel.basicGet(queue, true));
              return got.get() != null;
            });
    return Objects.requireNonNull(got.get());
  }

  private void send(RabbitTemplate rabbit, String routingKey, MessageProperties properties) {
    rabbit.send(exchange, routingKey, new Message(everyByte(), properties));
  }

  private static byte[] everyByte() {
    byte[] body = new byte[256];
    for (int i = 0; i < body.length; i++) {
      body[i] = (byte) i;
    }
    return body;
  }

  private static MessageProperties properties(String id) {
    MessageProperties properties = new MessageProperties();
    properties.setMessageId(id);
    properties.setContentType("application/x-all");
    properties.setContentEncoding("identity");
    properties.setCorrelationId("c-1");
    properties.setReplyTo("replies");
    properties.setExpiration("600000");
    properties.setPriority(5);
    properties.setTimestamp(new Date(1_790_000_000_000L));
    properties.setType("close");
    properties.setUserId("guest");
    properties.setAppId("shop");
    properties.setHeader("text", "ä€𝄞");
    properties.setHeader("number", 1L << 40);
    properties.setHeader("list", List.of(1, "two"));
    properties.setHeader("map", new HashMap<>(Map.of("a", true)));
    properties.setHeader("bytes", new byte[] {0, -1});
    return properties;
  }

  private static MessageProperties delayed(String id, long ms) {
    MessageProperties properties = properties(id);
    properties.setDelayLong(ms);
    return properties;
  }

  private static JobInfo dead(TaskSubmitService tasks, String id) {
    Awaitility.await(id + " is a dead letter")
        .until(() -> tasks.find(TYPE, id).orElseThrow().state() == JobInfo.State.DEAD);
    return tasks.find(TYPE, id).orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(strings = {PLAIN, SIMPLE, CONFIRMS})
  void aDelayedMessageIsTheOneThatGoesAtOnceByEveryByte(String confirms) throws Exception {
    bind("order.#", Map.of());
    try (ConfigurableApplicationContext shop = Shop.start(server.port(), confirms)) {
      RabbitTemplate rabbit = shop.getBean(RabbitTemplate.class);
      send(rabbit, "order.close", properties("m-1"));
      GetResponse plain = next();

      long begin = System.currentTimeMillis();
      send(rabbit, "order.close", delayed("m-1", 500));
      GetResponse delayed = next();
      assertThat(System.currentTimeMillis() - begin).isGreaterThanOrEqualTo(500);

      assertThat(delayed.getBody()).isEqualTo(plain.getBody());
      assertThat(delayed.getEnvelope().getExchange()).isEqualTo(exchange);
      assertThat(delayed.getEnvelope().getRoutingKey()).isEqualTo("order.close");
      assertThat(encoded(delayed)).isEqualTo(encoded(plain));
      assertThat(plain.getProps().getHeaders()).hasSize(5);
    }
  }

  private static String encoded(GetResponse response) {
    return new DelayedMessage("", "", response.getProps(), new byte[0]).toParams();
  }

  @Test
  void aMessageWithoutAnIdGetsThatOfItsJob() throws Exception {
    bind("#", Map.of());
    try (ConfigurableApplicationContext shop = Shop.start(server.port())) {
      MessageProperties properties = new MessageProperties();
      properties.setDelayLong(100L);
      send(shop.getBean(RabbitTemplate.class), "any", properties);

      String id = next().getProps().getMessageId();
      assertThat(id).isNotEmpty();
      TaskSubmitService tasks = shop.getBean(TaskSubmitService.class);
      Awaitility.await()
          .until(() -> tasks.find(TYPE, id).orElseThrow().state() == JobInfo.State.FINISHED);
    }
  }

  @Test
  void aMessageForTheDefaultExchangeGoesToItsQueue() throws Exception {
    bind("#", Map.of());
    try (ConfigurableApplicationContext shop = Shop.start(server.port())) {
      shop.getBean(RabbitTemplate.class).send(queue, new Message(everyByte(), delayed("d", 100)));
      assertThat(next().getEnvelope().getExchange()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {PLAIN, SIMPLE, CONFIRMS})
  void aMessageWithoutAQueueIsTriedAgainThenADeadLetterAndGoesOutWhenRequeued(String confirms)
      throws Exception {
    try (ConfigurableApplicationContext shop =
        Shop.start(
            server.port(), confirms, "spring.rabbitmq.publisher-returns=true", TWO_ATTEMPTS)) {
      TaskSubmitService tasks = shop.getBean(TaskSubmitService.class);
      send(shop.getBean(RabbitTemplate.class), "nowhere", delayed("unroutable", 100));

      JobInfo dead = dead(tasks, "unroutable");
      assertThat(dead.attempts()).isEqualTo(2);
      assertThat(dead.lastError())
          .contains(
              "RabbitMQ has no queue for the message for exchange '"
                  + exchange
                  + "' with routing key 'nowhere' (312 NO_ROUTE). Bind a queue");

      bind("nowhere", Map.of());
      assertThat(tasks.requeue(TYPE, "unroutable").requeued()).isTrue();
      assertThat(next().getProps().getMessageId()).isEqualTo("unroutable");
    }
  }

  @Test
  void noExchangeOrARefusalOfTheQueueFailsAndTheNextMessagesGoOut() throws Exception {
    bind("full", Map.of("x-max-length", 1, "x-overflow", "reject-publish"));
    try (ConfigurableApplicationContext shop = Shop.start(server.port(), TWO_ATTEMPTS)) {
      TaskSubmitService tasks = shop.getBean(TaskSubmitService.class);
      RabbitTemplate rabbit = shop.getBean(RabbitTemplate.class);
      rabbit.send("missing", "any", new Message(everyByte(), delayed("no-exchange", 10)));
      assertThat(dead(tasks, "no-exchange").lastError())
          .contains(
              "RabbitMQ did not take the message for exchange 'missing' with routing key 'any'",
              "NOT_FOUND - no exchange 'missing'");

      channel.basicPublish(exchange, "full", null, new byte[0]);
      Awaitility.await().until(() -> channel.messageCount(queue) == 1);
      send(rabbit, "full", delayed("full", 10));
      assertThat(dead(tasks, "full").lastError()).contains("RabbitMQ refused (nack) the message");

      assertThat(next().getProps().getMessageId()).isNull();
      send(rabbit, "full", delayed("fits", 10));
      assertThat(next().getProps().getMessageId()).isEqualTo("fits");
    }
  }

  @Test
  void aMessageThatHasNoPlaceIsADeadLetterAfterTenAttempts() throws Exception {
    try (ConfigurableApplicationContext shop = Shop.start(server.port(), QUICK)) {
      TaskSubmitService tasks = shop.getBean(TaskSubmitService.class);
      RabbitTemplate rabbit = shop.getBean(RabbitTemplate.class);
      send(rabbit, "nowhere", delayed("no-queue", 10));
      rabbit.send("missing", "any", new Message(everyByte(), delayed("no-exchange", 10)));
      assertThat(dead(tasks, "no-queue").attempts()).isEqualTo(10);
      assertThat(dead(tasks, "no-queue").lastError()).contains("(312 NO_ROUTE)");
      assertThat(dead(tasks, "no-exchange").attempts()).isEqualTo(10);
      assertThat(dead(tasks, "no-exchange").lastError()).contains("NOT_FOUND - no exchange");
    }
  }

  @Test
  void aMessageWithoutADelayHasNoHeadersOfPunctual() throws Exception {
    bind("#", Map.of());
    try (ConfigurableApplicationContext shop = Shop.start(server.port())) {
      MessageProperties properties = delayed("at-once", 0);
      properties.setHeader(DelayedRabbitTemplate.TAGS_HEADER, "t");
      send(shop.getBean(RabbitTemplate.class), "now", properties);
      GetResponse got = next();
      assertThat(got.getProps().getMessageId()).isEqualTo("at-once");
      assertThat(got.getProps().getUserId()).isEqualTo("guest");
      assertThat(got.getProps().getHeaders())
          .containsOnlyKeys("text", "number", "list", "map", "bytes");
      assertThat(properties.getHeaders())
          .containsKeys("x-delay", DelayedRabbitTemplate.TAGS_HEADER);
    }
  }

  @Test
  void aLargeMessageGoesOut() throws Exception {
    bind("#", Map.of());
    try (ConfigurableApplicationContext shop = Shop.start(server.port())) {
      MessageProperties properties = new MessageProperties();
      properties.setDelayLong(100L);
      shop.getBean(RabbitTemplate.class)
          .send(exchange, "large", new Message(new byte[196_000], properties));
      assertThat(next().getBody()).hasSize(196_000);
    }
  }

  @Test
  void aMessageThatIsDueWhileRabbitMqIsAwayGoesOutWhenItIsBack() throws Exception {
    bind("#", Map.of());
    try (ConfigurableApplicationContext shop = Shop.start(server.port(), PATIENT)) {
      TaskSubmitService tasks = shop.getBean(TaskSubmitService.class);
      RabbitTemplate rabbit = shop.getBean(RabbitTemplate.class);
      send(rabbit, "first", delayed("first", 10));
      assertThat(next().getProps().getMessageId()).isEqualTo("first");

      server.kill();
      connection.abort();
      send(rabbit, "away", delayed("away", 10));
      Awaitility.await()
          .until(
              () ->
                  Objects.requireNonNullElse(tasks.find(TYPE, "away").orElseThrow().lastError(), "")
                      .contains("RabbitMQ did not take the message"));
      server.start();

      connect();
      // As consumers do: RabbitMQ writes what is declared within two seconds only.
      bind("#", Map.of());
      // RabbitMQ may have forgotten that the first one was taken.
      Awaitility.await().until(() -> next().getProps().getMessageId().equals("away"));
    }
  }

  @Test
  void attemptsWhileRabbitMqIsAwayAreNoneWithoutAQueue() throws Exception {
    try (ConfigurableApplicationContext shop = Shop.start(server.port(), PATIENT)) {
      TaskSubmitService tasks = shop.getBean(TaskSubmitService.class);
      server.kill();
      connection.abort();
      send(shop.getBean(RabbitTemplate.class), "late", delayed("late", 10));
      Awaitility.await().until(() -> tasks.find(TYPE, "late").orElseThrow().attempts() > 10);
      server.start();

      connect();
      Awaitility.await()
          .until(
              () -> tasks.find(TYPE, "late").orElseThrow().lastError().contains("(312 NO_ROUTE)"));
      bind("#", Map.of());
      assertThat(next().getProps().getMessageId()).isEqualTo("late");
    }
  }
}
