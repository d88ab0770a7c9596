package io.punctual.benchmark.contender;

import io.punctual.benchmark.contest.Contender;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientRequestor;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.api.core.management.ManagementHelper;
import org.apache.activemq.artemis.api.core.management.ResourceNames;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyConnectorFactory;
import org.apache.activemq.artemis.core.remoting.impl.netty.TransportConstants;
import org.jspecify.annotations.Nullable;

/** ActiveMQ Artemis by scheduled delivery, with its own client. */
final class Artemis implements Contender {

  private static final int CONSUMERS = 4;
  private static final String WORK = "work";

  private final boolean persistent;
  private final ServerLocator locator;
  private final Queue<Submitter> submitters = new ConcurrentLinkedQueue<>();
  private @Nullable ClientSessionFactory factory;

  /**
   * @param persistent whether messages are written to the disk before they are acknowledged
   */
  Artemis(Surroundings surroundings, boolean persistent) {
    this.persistent = persistent;
    this.locator =
        ActiveMQClient.createServerLocatorWithoutHA(
            new TransportConfiguration(
                NettyConnectorFactory.class.getName(),
                Map.of(
                    TransportConstants.HOST_PROP_NAME,
                    "127.0.0.1",
                    TransportConstants.PORT_PROP_NAME,
                    surroundings.storePort())));
  }

  /** A session that sends, with one message a call or many in a transaction. */
  private record Submitter(ClientSession session, ClientProducer producer) {}

  @Override
  public String description() {
    return "ActiveMQ Artemis "
        + ClientSession.class.getPackage().getImplementationVersion()
        + (persistent ? ", durable messages" : ", messages that are not durable")
        + ": scheduled delivery, journal of NIO, "
        + CONSUMERS
        + " consumers";
  }

  @Override
  public void open(Consumer<String> handler) throws Exception {
    ClientSessionFactory opened = locator.createSessionFactory();
    factory = opened;
    try (ClientSession session = opened.createSession()) {
      session.createQueue(
          QueueConfiguration.of(WORK).setRoutingType(RoutingType.ANYCAST).setDurable(true));
    }
    for (int i = 0; i < CONSUMERS; i++) {
      // Each is acknowledged when it is done.
      ClientSession session = locator.createSessionFactory().createSession(true, true, 0);
      var unused =
          session
              .createConsumer(WORK)
              .setMessageHandler(
                  message -> {
                    handler.accept(message.getBodyBuffer().readString());
                    acknowledge(message);
                  });
      var unusedSession = session.start();
    }
  }

  private static void acknowledge(ClientMessage message) {
    try {
      var unused = message.acknowledge();
    } catch (ActiveMQException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void submit(Job job) throws Exception {
    bulk(List.of(job));
  }

  @Override
  public String bulkCall() {
    return "500 sends in a transaction";
  }

  @Override
  public void bulk(List<Job> jobs) throws Exception {
    Submitter submitter = submitters.poll();
    if (submitter == null) {
      ClientSession session = factory().createSession(false, true);
      submitter = new Submitter(session, session.createProducer(WORK));
    }
    for (Job job : jobs) {
      ClientMessage message = submitter.session().createMessage(persistent);
      message.getBodyBuffer().writeString(job.payload());
      var unused = message.setScheduledDeliveryTime(job.due());
      submitter.producer().send(message);
    }
    submitter.session().commit();
    submitters.add(submitter);
  }

  @Override
  public long pending() throws Exception {
    try (ClientSession session = factory().createSession()) {
      return session.queueQuery(SimpleString.of(WORK)).getMessageCount();
    }
  }

  @Override
  public void clear() throws Exception {
    // Closed with its session.
    try (ClientSession session = factory().createSession()) {
      ClientRequestor requestor = new ClientRequestor(session, "activemq.management");
      var unused = session.start();
      ClientMessage message = session.createMessage(false);
      ManagementHelper.putOperationInvocation(
          message, ResourceNames.QUEUE + WORK, "removeAllMessages");
      ClientMessage answer = requestor.request(message, 60_000);
      if (answer == null || !ManagementHelper.hasOperationSucceeded(answer)) {
        throw new IllegalStateException("Artemis did not remove its messages: " + answer);
      }
    }
  }

  private ClientSessionFactory factory() {
    if (factory == null) {
      throw new IllegalStateException("not open");
    }
    return factory;
  }

  @Override
  public void close() {
    locator.close();
  }
}
