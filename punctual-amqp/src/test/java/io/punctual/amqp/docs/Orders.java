package io.punctual.amqp.docs;

import static io.punctual.amqp.DelayedRabbitTemplate.TAGS_HEADER;
import static io.punctual.amqp.DelayedRabbitTemplate.TASK_TYPE;

import io.punctual.CancelResult;
import io.punctual.JobInfo;
import io.punctual.RescheduleResult;
import io.punctual.TagCancelResult;
import io.punctual.TaskSubmitService;
import io.punctual.amqp.DelayedRabbitTemplate;
import java.time.Duration;
import java.util.Optional;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/** An application as the page shows it. */
public class Orders {

  private final RabbitTemplate rabbit;
  private final TaskSubmitService tasks;

  /** Takes what an application injects. */
  public Orders(RabbitTemplate rabbit, TaskSubmitService tasks) {
    this.rabbit = rabbit;
    this.tasks = tasks;
  }

  /** The code that worked with the plugin. */
  public void closeLater(Object order) {
    rabbit.convertAndSend(
        "orders",
        "order.close",
        order,
        message -> {
          message.getMessageProperties().setDelayLong(Duration.ofMinutes(30).toMillis());
          return message;
        });
  }

  /** With an id and a tag. */
  public void closeLater(String id, Object order) {
    rabbit.convertAndSend(
        "orders",
        "order.close",
        order,
        message -> {
          message.getMessageProperties().setDelayLong(Duration.ofMinutes(30).toMillis());
          message.getMessageProperties().setMessageId("close-" + id);
          message.getMessageProperties().setHeader(TAGS_HEADER, "order:" + id);
          return message;
        });
  }

  /** Later than the plugin could. */
  public void remindLater(String id, Object order) {
    rabbit.convertAndSend(
        "orders",
        "order.remind",
        order,
        message -> {
          message.getMessageProperties().setHeader("x-delay", Duration.ofDays(60).toMillis());
          message.getMessageProperties().setMessageId("close-" + id);
          return message;
        });
  }

  /** Cancels. */
  public CancelResult paid(String id) {
    return tasks.cancel(TASK_TYPE, "close-" + id);
  }

  /** Cancels by tag. */
  public TagCancelResult deleted(String id) {
    return tasks.cancelByTag("order:" + id);
  }

  /** Moves. */
  public RescheduleResult extended(String id) {
    return tasks.reschedule(TASK_TYPE, "close-" + id, Duration.ofHours(2));
  }

  /** Looks. */
  public Optional<JobInfo> look(String id) {
    return tasks.find(TASK_TYPE, "close-" + id);
  }

  /** A template of the application's own. */
  public static RabbitTemplate own(ConnectionFactory connectionFactory, TaskSubmitService tasks) {
    RabbitTemplate template = new DelayedRabbitTemplate(connectionFactory, tasks);
    template.setExchange("orders");
    return template;
  }
}
