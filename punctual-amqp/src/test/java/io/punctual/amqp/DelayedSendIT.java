package io.punctual.amqp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
import io.punctual.JobInfo;
import io.punctual.RescheduleResult;
import io.punctual.TaskSubmitService;
import io.punctual.amqp.docs.Orders;
import io.punctual.redis.Ports;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.amqp.AmqpConnectException;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.connection.CorrelationData;
import org.springframework.amqp.rabbit.connection.SimpleRoutingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.transaction.support.TransactionTemplate;

/** Sends delayed messages. No message is due here, and no RabbitMQ is needed. */
class DelayedSendIT {

  private static final String TYPE = DelayedRabbitTemplate.TASK_TYPE;

  private static ConfigurableApplicationContext shop;
  private static RabbitTemplate rabbit;
  private static TaskSubmitService tasks;
  private static Orders orders;

  @BeforeAll
  static void start() {
    shop =
        Shop.start(
            Ports.free(), "punctual.outbox.enabled=true", "punctual.initialize-schema=always");
    rabbit = shop.getBean(RabbitTemplate.class);
    tasks = shop.getBean(TaskSubmitService.class);
    orders = shop.getBean(Orders.class);
  }

  @AfterAll
  static void stop() {
    shop.close();
  }

  private static void send(Object body, Consumer<MessageProperties> properties) {
    rabbit.convertAndSend(
        "orders",
        "order.close",
        body,
        message -> {
          properties.accept(message.getMessageProperties());
          return message;
        });
  }

  @Test
  void aMessageIsFoundMovedAndCancelledByItsId() {
    Instant before = Instant.now();
    orders.closeLater("1001", "{\"id\":1001}");

    JobInfo job = orders.look("1001").orElseThrow();
    assertThat(job.state()).isEqualTo(JobInfo.State.DELAYED);
    assertThat(job.at()).isBetween(before.plusSeconds(1_799), Instant.now().plusSeconds(1_801));
    assertThat(job.tags()).containsExactly("order:1001");
    assertThat(job.params())
        .contains("\"exchange\":\"orders\"", "\"routingKey\":\"order.close\"")
        .contains("\"text\":\"{\\\"id\\\":1001}\"");
    assertThat(DelayedMessage.parse(job.params()).properties().getHeaders()).isEmpty();

    assertThat(orders.extended("1001").outcome()).isEqualTo(RescheduleResult.Outcome.RESCHEDULED);
    assertThat(orders.look("1001").orElseThrow().at())
        .isAfter(before.plus(Duration.ofMinutes(119)));
    assertThat(orders.paid("1001").cancelled()).isTrue();
    assertThat(orders.look("1001").orElseThrow().state()).isEqualTo(JobInfo.State.CANCELLED);
  }

  @Test
  void messagesAreCancelledByTheirTags() {
    send("a", m -> tagged(m, "a-1", "order:7, customer:9"));
    send("b", m -> tagged(m, "a-2", "customer:9"));
    assertThat(tasks.find(TYPE, "a-1").orElseThrow().tags())
        .containsExactly("customer:9", "order:7");

    assertThat(tasks.cancelByTag("customer:9").items()).hasSize(2);
    orders.closeLater("1002", "x");
    assertThat(orders.deleted("1002").items()).hasSize(1);
  }

  private static void tagged(MessageProperties properties, String id, String tags) {
    properties.setMessageId(id);
    properties.setDelayLong(3_600_000L);
    properties.setHeader(DelayedRabbitTemplate.TAGS_HEADER, tags);
  }

  @Test
  void theSameMessageAgainIsOneJobAndAnotherOneIsRefused() {
    send("a", m -> tagged(m, "same", "t"));
    send("a", m -> tagged(m, "same", "t"));
    assertThat(tasks.find(TYPE, "same").orElseThrow().version()).isEqualTo(1);
    assertThatThrownBy(() -> send("b", m -> tagged(m, "same", "t")))
        .isInstanceOf(JobConflictException.class);
  }

  /** To a broker that is not there. */
  @ParameterizedTest
  @ValueSource(longs = {0, -1})
  void aMessageWithoutADelayGoesToRabbitMqAtOnce(long delay) {
    assertThatThrownBy(() -> send("now", m -> m.setHeader("x-delay", delay)))
        .isInstanceOf(AmqpConnectException.class);
    assertThatThrownBy(() -> send("now", m -> {})).isInstanceOf(AmqpConnectException.class);
  }

  @Test
  void aDelayMayBeAnyKindOfWholeNumber() {
    for (Object delay : List.of(3_600_000, 3_600_000L, "3600000")) {
      String id = "kind-" + delay.getClass().getSimpleName();
      send("x", m -> m.setMessageId(id), delay);
      assertThat(tasks.find(TYPE, id).orElseThrow().at())
          .isBetween(Instant.now().plusSeconds(3_500), Instant.now().plusSeconds(3_700));
    }
  }

  private static void send(Object body, Consumer<MessageProperties> properties, Object delay) {
    send(body, properties.andThen(m -> m.setHeader("x-delay", delay)));
  }

  @Test
  void whatIsWrongIsSaidAndNothingIsStored() {
    assertThatThrownBy(() -> send("x", m -> {}, "soon"))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("The header x-delay must be a number of milliseconds, but was 'soon'.");
    assertThatThrownBy(() -> send("x", m -> m.setMessageId("no spaces"), 1_000))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("The message id is the id of the delayed message in Punctual")
        .hasMessageContaining("'no spaces'");
    assertThatThrownBy(() -> send("x", m -> {}, Long.MAX_VALUE))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("delay must be between 0 and the year 9999");
    assertThatThrownBy(() -> send("x", m -> tagged(m, "bad-tag", "a b")))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("tags");
    assertThat(tasks.find(TYPE, "bad-tag")).isEmpty();
    assertThatThrownBy(
            () -> send(new byte[300_000], m -> m.setMessageId("large"), Long.valueOf(1_000)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("its body has 300,000 bytes");
    assertThat(tasks.find(TYPE, "large")).isEmpty();
  }

  @Test
  void insideATransactionAMessageGoesThroughTheOutbox() {
    TransactionTemplate transaction = shop.getBean(TransactionTemplate.class);
    transaction.executeWithoutResult(
        status -> {
          send("x", m -> m.setMessageId("rolled-back"), 3_600_000);
          status.setRollbackOnly();
        });
    transaction.executeWithoutResult(
        status -> {
          send("x", m -> m.setMessageId("committed"), 3_600_000);
          assertThat(tasks.find(TYPE, "committed")).isEmpty();
        });
    Awaitility.await().until(() -> tasks.find(TYPE, "committed").isPresent());
    assertThat(tasks.find(TYPE, "rolled-back")).isEmpty();
  }

  @Test
  void theTemplatesPostProcessorsAreAppliedAndTheSenderHearsOfTheStore() throws Exception {
    RabbitTemplate own = Orders.own(rabbit.getConnectionFactory(), tasks);
    own.addBeforePublishPostProcessors(
        message -> {
          message.getMessageProperties().setHeader("stamped", true);
          return message;
        });
    own.setChannelTransacted(true);
    CorrelationData correlation = new CorrelationData("c-1");
    own.convertAndSend(
        "order.close",
        (Object) "x",
        message -> {
          message.getMessageProperties().setDelayLong(3_600_000L);
          message.getMessageProperties().setMessageId("stamped");
          return message;
        },
        correlation);

    assertThat(correlation.getFuture().get(1, TimeUnit.SECONDS).ack()).isTrue();
    DelayedMessage stored =
        DelayedMessage.parse(tasks.find(TYPE, "stamped").orElseThrow().params());
    assertThat(stored.exchange()).isEqualTo("orders");
    assertThat(stored.properties().getHeaders()).containsOnlyKeys("stamped");
  }

  @Test
  void aTraceIsNoContent() {
    for (String trace : List.of("1", "2")) {
      send(
          "x",
          m -> {
            m.setMessageId("traced");
            for (String name :
                List.of("traceparent", "tracestate", "baggage", "b3", "X-B3-TraceId")) {
              m.setHeader(name, trace);
            }
            m.setHeader("kept", "k");
          },
          3_600_000);
    }
    JobInfo job = tasks.find(TYPE, "traced").orElseThrow();
    assertThat(job.version()).isEqualTo(1);
    assertThat(DelayedMessage.parse(job.params()).properties().getHeaders())
        .containsOnlyKeys("kept");
  }

  @Test
  void insideATransactionTheSenderHearsNothing() {
    CorrelationData correlation = new CorrelationData("c-2");
    shop.getBean(TransactionTemplate.class)
        .executeWithoutResult(
            status -> {
              MessageProperties properties = new MessageProperties();
              tagged(properties, "unheard", "t");
              rabbit.send("orders", "x", new Message(new byte[0], properties), correlation);
            });
    Awaitility.await().until(() -> tasks.find(TYPE, "unheard").isPresent());
    assertThat(correlation.getFuture()).isNotDone();
  }

  @Test
  void aDelayMayBeLongerThanThatOfThePlugin() {
    orders.remindLater("long", "x");
    assertThat(orders.look("long").orElseThrow().at())
        .isAfter(Instant.now().plus(Duration.ofDays(59)));
  }

  @Test
  void aTemplateThatChoosesItsBrokerCannotDelay() {
    RabbitTemplate routing = new DelayedRabbitTemplate(new SimpleRoutingConnectionFactory(), tasks);
    MessageProperties properties = new MessageProperties();
    tagged(properties, "routed", "t");
    assertThatThrownBy(() -> routing.send("e", "k", new Message(new byte[0], properties)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("Make a DelayedRabbitTemplate with the primary connection factory");
    assertThat(tasks.find(TYPE, "routed")).isEmpty();
  }

  /** To a broker that is not there. */
  @Test
  void aDelayThatAProcessorOfTheTemplateSetsHasNoEffect() {
    RabbitTemplate own = Orders.own(rabbit.getConnectionFactory(), tasks);
    own.addBeforePublishPostProcessors(
        message -> {
          message.getMessageProperties().setDelayLong(3_600_000L);
          return message;
        });
    assertThatThrownBy(() -> own.convertAndSend("k", (Object) "x"))
        .isInstanceOf(AmqpConnectException.class);
  }

  @Test
  void anApplicationMayHaveATemplateOfItsOwnOrNoPunctual() {
    assertThat(rabbit).isExactlyInstanceOf(DelayedRabbitTemplate.class);
    try (ConfigurableApplicationContext off =
        Shop.start(
            Ports.free(), "punctual.enabled=false", "spring.main.lazy-initialization=true")) {
      assertThat(off.getBean(RabbitTemplate.class)).isExactlyInstanceOf(RabbitTemplate.class);
    }
  }
}
