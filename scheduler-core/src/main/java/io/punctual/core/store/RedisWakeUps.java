package io.punctual.core.store;

import io.punctual.core.queue.Bucket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.SubscriptionListener;

/** Listens on the wake-up channel; one thread that subscribes again whenever it lost Redis. */
final class RedisWakeUps implements WakeUps {

  private static final Logger log = LoggerFactory.getLogger(RedisWakeUps.class);
  private static final long RECONNECT_MS = 500;

  private final RedisConnectionFactory connections;
  private final Keys keys;

  RedisWakeUps(RedisConnectionFactory connections, Keys keys) {
    this.connections = connections;
    this.keys = keys;
  }

  @Override
  public AutoCloseable listen(Listener listener) {
    Subscriber subscriber = new Subscriber(listener);
    Thread thread = new Thread(subscriber, "punctual-wake-ups");
    thread.setDaemon(true);
    thread.start();
    return subscriber;
  }

  private final class Subscriber
      implements Runnable, AutoCloseable, MessageListener, SubscriptionListener {

    private final Listener listener;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile @Nullable RedisConnection connection;
    private boolean complained;

    Subscriber(Listener listener) {
      this.listener = listener;
    }

    @Override
    public void run() {
      do {
        try (RedisConnection made = connections.getConnection()) {
          connection = made;
          // Jedis blocks here until the connection breaks or close() unsubscribes. Lettuce comes
          // back at once, and mends a broken connection by itself.
          made.subscribe(this, keys.wakeUpChannel());
          boolean end = false;
          while (!end && made.isSubscribed()) {
            end = closedWithin(RECONNECT_MS);
          }
        } catch (RuntimeException e) {
          if (!complained && !isClosed()) {
            log.warn("Wake-up hints are off, safety checks go on: {}", e.getMessage());
            complained = true;
          }
        } finally {
          connection = null;
        }
      } while (!closedWithin(RECONNECT_MS));
    }

    @Override
    public void onChannelSubscribed(byte[] channel, long count) {
      if (isClosed()) {
        unsubscribe();
        return;
      }
      if (complained) {
        log.info("Wake-up hints are on again");
        complained = false;
      }
      // Whatever was sent while nobody listened is lost.
      guarded(listener::gap);
    }

    @Override
    public void onMessage(Message message, byte @Nullable [] pattern) {
      String[] parts = new String(message.getBody(), StandardCharsets.UTF_8).split(" ", -1);
      Optional<Bucket> bucket = Keys.parseBucket(parts[0]);
      if (parts.length == 2 && bucket.isPresent() && parts[1].matches("\\d{1,18}")) {
        long due = Long.parseLong(parts[1]);
        guarded(() -> listener.newHead(bucket.get(), due));
      }
    }

    // What a listener throws must not end the subscription.
    private void guarded(Runnable call) {
      try {
        call.run();
      } catch (RuntimeException e) {
        log.error("A listener of wake-up hints failed", e);
      }
    }

    private boolean isClosed() {
      return closed.getCount() == 0;
    }

    private boolean closedWithin(long millis) {
      try {
        return closed.await(millis, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return true;
      }
    }

    private void unsubscribe() {
      RedisConnection current = connection;
      Subscription subscription = current == null ? null : current.getSubscription();
      if (subscription != null) {
        subscription.close();
      }
    }

    /** Ends the listening; one that is being made ends itself as soon as it is there. */
    @Override
    public void close() {
      closed.countDown();
      try {
        unsubscribe();
      } catch (RuntimeException e) {
        log.debug("The subscription was gone already: {}", e.getMessage());
      }
    }
  }
}
