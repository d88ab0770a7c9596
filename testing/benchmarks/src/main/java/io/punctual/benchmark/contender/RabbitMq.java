package io.punctual.benchmark.contender;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.CancelCallback;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.punctual.benchmark.contest.Contender;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * RabbitMQ by time to live and dead-lettering. A message expires only at the head of its queue: so
 * there is a waiting queue for each 100 ms of delay, in which no message waits longer than that for
 * one before it.
 */
final class RabbitMq implements Contender {

  private static final int CONSUMERS = 4;
  private static final int PREFETCH = 250;
  private static final int STEP_MS = 100;
  private static final String WORK = "work";
  private static final long CONFIRM_MS = 60_000;

  private final Surroundings surroundings;
  private final boolean persistent;
  private final Set<String> waiting = ConcurrentHashMap.newKeySet();
  private final Queue<Channel> publishers = new ConcurrentLinkedQueue<>();
  private final AtomicLong unacknowledged = new AtomicLong();
  private @Nullable Connection connection;

  /**
   * @param persistent whether messages are written to the disk before they are confirmed
   */
  RabbitMq(Surroundings surroundings, boolean persistent) {
    this.surroundings = surroundings;
    this.persistent = persistent;
  }

  @Override
  public String description() {
    return "RabbitMQ "
        + connection().getServerProperties().get("version")
        + (persistent ? ", persistent" : ", transient")
        + ": a waiting queue for each 100 ms of delay, TTL and dead-lettering, confirms, "
        + CONSUMERS
        + " consumers with prefetch "
        + PREFETCH;
  }

  @Override
  public void open(Consumer<String> handler) throws Exception {
    Channel setup = connection().createChannel();
    var unused = setup.queueDeclare(WORK, true, false, false, Map.of());
    for (int i = 0; i < CONSUMERS; i++) {
      Channel channel = connection().createChannel();
      channel.basicQos(PREFETCH);
      String unusedTag =
          channel.basicConsume(
              WORK,
              false,
              (tag, message) -> {
                unacknowledged.incrementAndGet();
                handler.accept(new String(message.getBody(), StandardCharsets.US_ASCII));
                channel.basicAck(message.getEnvelope().getDeliveryTag(), false);
                unacknowledged.decrementAndGet();
              },
              (CancelCallback) tag -> {});
    }
    setup.close();
  }

  private synchronized Connection connection() {
    if (connection == null) {
      ConnectionFactory factory = new ConnectionFactory();
      factory.setHost("127.0.0.1");
      factory.setPort(surroundings.storePort());
      try {
        connection = factory.newConnection();
      } catch (IOException | TimeoutException e) {
        throw new IllegalStateException("RabbitMQ cannot be reached", e);
      }
    }
    return connection;
  }

  @Override
  public void submit(Job job) throws Exception {
    bulk(List.of(job));
  }

  @Override
  public String bulkCall() {
    return "none; 500 publishes, then their confirms";
  }

  @Override
  public void bulk(List<Job> jobs) throws Exception {
    Channel channel = publishers.poll();
    if (channel == null) {
      channel = connection().createChannel();
      var unused = channel.confirmSelect();
    }
    for (Job job : jobs) {
      long delay = Math.max(0, job.due() - System.currentTimeMillis());
      channel.basicPublish(
          "",
          waitingQueue(channel, delay),
          new AMQP.BasicProperties.Builder()
              .deliveryMode(persistent ? 2 : 1)
              .messageId(job.id())
              .expiration(Long.toString(delay))
              .build(),
          job.payload().getBytes(StandardCharsets.US_ASCII));
    }
    channel.waitForConfirmsOrDie(CONFIRM_MS);
    publishers.add(channel);
  }

  private String waitingQueue(Channel channel, long delay) throws IOException {
    String name = "wait-" + Math.ceilDiv(delay, STEP_MS);
    if (!waiting.contains(name)) {
      // Declaring it twice does nothing.
      var unused =
          channel.queueDeclare(
              name,
              true,
              false,
              false,
              Map.of("x-dead-letter-exchange", "", "x-dead-letter-routing-key", WORK));
      waiting.add(name);
    }
    return name;
  }

  @Override
  public long pending() throws Exception {
    try (Channel channel = connection().createChannel()) {
      long pending = unacknowledged.get() + channel.messageCount(WORK);
      for (String queue : waiting) {
        pending += channel.messageCount(queue);
      }
      return pending;
    }
  }

  @Override
  public void clear() throws Exception {
    try (Channel channel = connection().createChannel()) {
      for (String queue : waiting) {
        var unused = channel.queueDelete(queue);
      }
      waiting.clear();
      var unused = channel.queuePurge(WORK);
    }
  }

  @Override
  public long storeBytes() {
    return surroundings.storeResident();
  }

  @Override
  public void close() {
    try {
      if (connection != null) {
        connection.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
