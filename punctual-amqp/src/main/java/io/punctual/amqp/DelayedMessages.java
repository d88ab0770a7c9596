package io.punctual.amqp;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Return;
import com.rabbitmq.client.ReturnListener;
import com.rabbitmq.client.ShutdownSignalException;
import io.punctual.DelayedTask;
import io.punctual.RejectTaskException;
import io.punctual.TaskContext;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.AmqpException;
import org.springframework.amqp.rabbit.connection.ChannelProxy;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.connection.RabbitUtils;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/**
 * Publishes delayed messages that are due, mandatory and with a confirm. An attempt fails, and is
 * tried again, if RabbitMQ refuses or returns the message, or does not confirm it.
 *
 * <p>The channels are the client's, without the headers by which {@link RabbitTemplate} finds its
 * own returns: consumers get the headers that were sent, and no others.
 */
final class DelayedMessages {

  /** Less than the time-to-run of an attempt, so that this is what is reported. */
  private static final Duration CONFIRM = Duration.ofSeconds(30);

  private final RabbitTemplate rabbit;

  private final AttemptsWithoutPlace withoutPlace = new AttemptsWithoutPlace();

  /**
   * Makes the worker.
   *
   * @param connectionFactory of the broker; its connection for publishers is used
   */
  DelayedMessages(ConnectionFactory connectionFactory) {
    rabbit = new RabbitTemplate(connectionFactory);
    // Consumers go on if RabbitMQ blocks those who publish. These channels are in confirm mode,
    // and a channel of the other connection would stay so.
    rabbit.setUsePublisherConnection(true);
  }

  /**
   * Publishes the message of a job.
   *
   * @throws AmqpException if RabbitMQ did not take it for a queue
   * @throws RejectTaskException if there was no exchange or no queue for ten attempts in a row here
   */
  @DelayedTask(
      type = DelayedRabbitTemplate.TASK_TYPE,
      // RabbitMQ may be away for half a day.
      retry = "exponential(1s,1m);attempts=1000")
  void publish(String params, TaskContext context) {
    DelayedMessage message = DelayedMessage.parse(params);
    AMQP.BasicProperties properties =
        message.properties().builder().messageId(context.taskId()).build();
    Problem problem;
    try {
      problem = rabbit.execute(channel -> publish(channel, message, properties, context));
    } catch (AmqpException e) {
      String failed =
          "RabbitMQ did not take the message for %s: %s"
              .formatted(message.target(), e.getMessage());
      noteIfPlace(!isNotFound(e), context, failed);
      throw new AmqpException(failed, e);
    }
    if (problem != null) {
      noteIfPlace(!problem.hasNoPlace(), context, problem.text());
      throw new AmqpException(problem.text());
    }
    withoutPlace.forget(context.incarnation());
  }

  /** Why a message is in no queue. */
  private record Problem(String text, boolean hasNoPlace) {

    Problem(String text) {
      this(text, false);
    }
  }

  /** Unroutable messages that go on failing would open the circuit for all others. */
  private void noteIfPlace(boolean hasPlace, TaskContext context, String failed) {
    if (hasPlace) {
      withoutPlace.forget(context.incarnation());
    } else if (withoutPlace.isLast(context.incarnation())) {
      throw new RejectTaskException(failed);
    }
  }

  private static boolean isNotFound(AmqpException e) {
    return e.getCause() instanceof ShutdownSignalException closed
        && closed.getReason() instanceof AMQP.Channel.Close reason
        && reason.getReplyCode() == AMQP.NOT_FOUND;
  }

  /** Returns what was wrong, or null if the message is in a queue. */
  private static @Nullable Problem publish(
      Channel cached, DelayedMessage message, AMQP.BasicProperties properties, TaskContext context)
      throws IOException, InterruptedException {
    // Spring's proxy replaces a channel that RabbitMQ closed, and so hides why.
    Channel channel = cached instanceof ChannelProxy proxy ? proxy.getTargetChannel() : cached;
    AtomicReference<Return> returned = new AtomicReference<>();
    ReturnListener listener = channel.addReturnListener(returned::set);
    boolean confirmed = false;
    try {
      var unused = channel.confirmSelect();
      // RabbitMQ may have blocked until now, and another attempt may run.
      if (context.isCancelled()) {
        return new Problem(
            "The attempt was over before RabbitMQ could be given the message for %s. It may be short of memory or disk: see its log."
                .formatted(message.target()));
      }
      channel.basicPublish(
          message.exchange(),
          message.routingKey(),
          /* mandatory= */ true,
          properties,
          message.body());
      confirmed = channel.waitForConfirms(CONFIRM.toMillis());
    } catch (TimeoutException e) {
      return new Problem(
          "RabbitMQ did not confirm the message for %s within %d s. It may be short of memory or disk: see its log."
              .formatted(message.target(), CONFIRM.toSeconds()));
    } finally {
      var unused = channel.removeReturnListener(listener);
      if (!confirmed) {
        // A late confirm must not be taken for that of another message.
        RabbitUtils.setPhysicalCloseRequired(cached, true);
      }
    }
    if (!confirmed) {
      return new Problem(
          "RabbitMQ refused (nack) the message for %s: see its log.".formatted(message.target()));
    }
    Return back = returned.get();
    if (back == null) {
      return null;
    }
    String failed =
        "RabbitMQ has no queue for the message for %s (%d %s). Bind a queue, or set an alternate exchange."
            .formatted(message.target(), back.getReplyCode(), back.getReplyText());
    return new Problem(failed, true);
  }
}
