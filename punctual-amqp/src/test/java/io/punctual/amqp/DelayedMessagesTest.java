package io.punctual.amqp;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.ShutdownSignalException;
import io.punctual.RejectTaskException;
import io.punctual.TaskContext;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.AmqpConnectException;
import org.springframework.amqp.AmqpException;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;

/** After how many attempts a message without a place is a dead letter. */
class DelayedMessagesTest {

  private static final String MESSAGE =
      new DelayedMessage("orders", "order.close", new AMQP.BasicProperties(), new byte[0])
          .toParams();

  /** One instance of the application. */
  private static final class Instance {

    private final ConnectionFactory rabbit = mock(ConnectionFactory.class);
    private final DelayedMessages worker = new DelayedMessages(rabbit);

    void findsRabbitMqAway(int attempt) {
      attempt(new AmqpConnectException(new Exception("refused")), attempt, AmqpException.class);
    }

    void findsNoPlace(int attempt) {
      attempt(noExchange(), attempt, AmqpException.class);
    }

    void givesUp(int attempt) {
      attempt(noExchange(), attempt, RejectTaskException.class);
    }

    private void attempt(
        AmqpException problem, int attempt, Class<? extends RuntimeException> expected) {
      doThrow(problem).when(rabbit).createConnection();
      TaskContext context = mock(TaskContext.class);
      when(context.taskId()).thenReturn("m-1");
      when(context.incarnation()).thenReturn("i-1");
      when(context.attempt()).thenReturn(attempt);
      assertThatThrownBy(() -> worker.publish(MESSAGE, context))
          .as("attempt " + attempt)
          .isExactlyInstanceOf(expected);
    }

    private static AmqpException noExchange() {
      AMQP.Channel.Close reason =
          new AMQP.Channel.Close.Builder()
              .replyCode(AMQP.NOT_FOUND)
              .replyText("NOT_FOUND - no exchange 'orders'")
              .build();
      return new AmqpException(new ShutdownSignalException(false, false, reason, new Object()));
    }
  }

  private final Instance one = new Instance();
  private final Instance other = new Instance();

  @Test
  void theTenthAttemptWithoutAPlaceIsTheLast() {
    for (int attempt = 1; attempt < 10; attempt++) {
      one.findsNoPlace(attempt);
    }
    one.givesUp(10);
  }

  @Test
  void attemptsWhileRabbitMqIsAwayDoNotCountWhereverTheyRun() {
    other.findsNoPlace(1);
    for (int attempt = 2; attempt <= 12; attempt++) {
      one.findsRabbitMqAway(attempt);
    }
    for (int attempt = 13; attempt <= 20; attempt++) {
      other.findsNoPlace(attempt);
    }
  }

  @Test
  void anInstanceBeginsAgainAfterItFoundRabbitMqAway() {
    for (int attempt = 1; attempt <= 9; attempt++) {
      one.findsNoPlace(attempt);
    }
    one.findsRabbitMqAway(10);
    for (int attempt = 11; attempt <= 19; attempt++) {
      one.findsNoPlace(attempt);
    }
    one.givesUp(20);
  }

  /** The retry policy of this job has six attempts. */
  @Test
  void aRequeuedJobBeginsAgain() {
    for (int attempt = 1; attempt <= 6; attempt++) {
      one.findsNoPlace(attempt);
    }
    for (int attempt = 1; attempt <= 6; attempt++) {
      one.findsNoPlace(attempt);
    }
  }
}
