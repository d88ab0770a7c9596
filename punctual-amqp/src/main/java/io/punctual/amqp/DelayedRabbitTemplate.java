package io.punctual.amqp;

import com.rabbitmq.client.AMQP;
import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
import io.punctual.JobRequest;
import io.punctual.SchedulerUnavailableException;
import io.punctual.TaskSubmitService;
import io.punctual.internal.OneLine;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageBuilder;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.connection.AbstractRoutingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.connection.CorrelationData;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.StringUtils;

/**
 * A {@link RabbitTemplate} whose messages with the header {@code x-delay} (milliseconds) wait in
 * Punctual. When one is due, an instance of this application publishes it to the exchange and
 * routing key that it was sent to. All other messages go to RabbitMQ at once.
 *
 * <p>A message that waits is a job of the type {@value #TASK_TYPE}. The message id is its id: it is
 * cancelled, moved and looked up by {@link TaskSubmitService} with these two. A message without an
 * id gets a random one, which consumers see: by it they detect a message that is published again.
 *
 * <p>{@code send} and {@code convertAndSend} return when the job is stored. Inside a Spring
 * transaction the job is submitted when that commits, through the outbox if there is one. If the
 * caller gave {@link CorrelationData}, its future says that the message is confirmed when the job
 * is stored; inside a transaction it is never completed. The template's confirm callback is not
 * called. Methods that wait for a reply do not delay.
 *
 * <p>The worker publishes to the application's primary connection factory, so the template must use
 * it, too.
 *
 * <p>Beside what the template throws, sending a delayed message throws {@link InvalidJobException}
 * if the delay, the message id or a tag is invalid, the message is too large or the connection
 * factory is a routing one, {@link JobConflictException} if another message waits with this id, and
 * {@link SchedulerUnavailableException} if no scheduler answered: repeat the call with the same
 * message id.
 */
public class DelayedRabbitTemplate extends RabbitTemplate {

  /** The task type of delayed messages. */
  public static final String TASK_TYPE = "amqp.publish";

  /**
   * A header with the tags of the job, separated by commas, such as {@code order:4711}. It is not
   * published.
   */
  public static final String TAGS_HEADER = "x-punctual-tags";

  /** Beside those that begin with {@code x-b3-}. */
  private static final Set<String> TRACE_HEADERS =
      Set.of("traceparent", "tracestate", "baggage", "b3");

  private final TaskSubmitService tasks;

  /**
   * Makes a template.
   *
   * @param connectionFactory the primary one of the application, which the worker uses. With a
   *     routing one, delayed messages are refused.
   * @param tasks where messages with a delay wait
   */
  public DelayedRabbitTemplate(ConnectionFactory connectionFactory, TaskSubmitService tasks) {
    super(connectionFactory);
    this.tasks = tasks;
  }

  @Override
  public void send(
      @Nullable String exchange,
      @Nullable String routingKey,
      Message message,
      @Nullable CorrelationData correlationData) {
    Duration delay = delay(message);
    if (delay.isNegative() || delay.isZero()) {
      super.send(exchange, routingKey, withoutOurHeaders(message), correlationData);
      return;
    }
    if (getConnectionFactory() instanceof AbstractRoutingConnectionFactory) {
      throw new InvalidJobException(
          "A message cannot be delayed by a template with a routing connection factory: when it is due, the worker cannot know which broker it was for. Make a DelayedRabbitTemplate with the primary connection factory of the application, and send delayed messages by that.");
    }
    submit(capture(exchange, routingKey, message), delay);
    // Inside a transaction nothing is stored yet.
    if (correlationData != null && !TransactionSynchronizationManager.isActualTransactionActive()) {
      correlationData.getFuture().complete(new CorrelationData.Confirm(true, null));
    }
  }

  /** Returns the message itself if it has none of them, and otherwise a copy. */
  private static Message withoutOurHeaders(Message message) {
    Map<String, @Nullable Object> headers = message.getMessageProperties().getHeaders();
    if (!headers.containsKey(TAGS_HEADER) && !headers.containsKey(MessageProperties.X_DELAY)) {
      return message;
    }
    return MessageBuilder.fromClonedMessage(message)
        .removeHeader(TAGS_HEADER)
        .removeHeader(MessageProperties.X_DELAY)
        .build();
  }

  private DelayedMessage capture(
      @Nullable String exchange, @Nullable String routingKey, Message message) {
    return CapturedPublish.of(
        channel -> doSend(channel, exchange, routingKey, message, /* mandatory= */ false, null));
  }

  private void submit(DelayedMessage message, Duration delay) {
    AMQP.BasicProperties properties = message.properties();
    Map<String, Object> headers = new HashMap<>();
    if (properties.getHeaders() != null) {
      headers.putAll(properties.getHeaders());
    }
    headers.remove(MessageProperties.X_DELAY);
    Object tags = headers.remove(TAGS_HEADER);
    // Each send has another trace, and would be other content.
    headers
        .keySet()
        .removeIf(
            name -> {
              String lower = name.toLowerCase(Locale.ROOT);
              return TRACE_HEADERS.contains(lower) || lower.startsWith("x-b3-");
            });
    DelayedMessage kept =
        new DelayedMessage(
            message.exchange(),
            message.routingKey(),
            properties.builder().headers(headers).build(),
            message.body());
    JobRequest job = tasks.job(TASK_TYPE, kept.toParams()).in(delay);
    String id = properties.getMessageId();
    if (id != null) {
      job = job.id(requireId(id));
    }
    if (tags != null) {
      for (String tag : StringUtils.commaDelimitedListToStringArray(tags.toString())) {
        job = job.tag(tag.strip());
      }
    }
    var unused = job.send();
  }

  private static String requireId(String id) {
    if (!Limits.isName(id)) {
      throw new InvalidJobException(
          "The message id is the id of the delayed message in Punctual. It %s, but was '%s'. Set another one, or none."
              .formatted(Limits.NAME_RULE, OneLine.of(id, Limits.MAX_NAME)));
    }
    return id;
  }

  private static Duration delay(Message message) {
    Object delay = message.getMessageProperties().getHeaders().get(MessageProperties.X_DELAY);
    if (delay == null) {
      return Duration.ZERO;
    } else if (delay instanceof Number number) {
      return Duration.ofMillis(number.longValue());
    }
    try {
      return Duration.ofMillis(Long.parseLong(delay.toString().strip()));
    } catch (NumberFormatException e) {
      throw new InvalidJobException(
          "The header x-delay must be a number of milliseconds, but was '%s'."
              .formatted(OneLine.of(delay.toString(), Limits.MAX_NAME)));
    }
  }
}
