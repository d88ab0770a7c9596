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
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

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

  private final class Subscriber implements Runnable, AutoCloseable {

    private final Listener listener;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile @Nullable RedisConnection connection;

    Subscriber(Listener listener) {
      this.listener = listener;
    }

    @Override
    public void run() {
      boolean complained = false;
      while (closed.getCount() > 0) {
        try (RedisConnection made = connections.getConnection()) {
          connection = made;
          complained = false;
          // Blocks until the connection breaks or close() unsubscribes. Hints sent before this
          // subscription are lost, hence the gap; those sent while it is being made may be, too,
          // which is what safety checks are for.
          listener.gap();
          made.subscribe(this::onMessage, keys.wakeUpChannel());
        } catch (RuntimeException e) {
          if (!complained && closed.getCount() > 0) {
            log.warn("Wake-up hints are off, safety checks go on: {}", e.getMessage());
            complained = true;
          }
        } finally {
          connection = null;
        }
        pause();
      }
    }

    private void onMessage(Message message, byte @Nullable [] pattern) {
      String[] parts = new String(message.getBody(), StandardCharsets.UTF_8).split(" ", -1);
      Optional<Bucket> bucket = Keys.parseBucket(parts[0]);
      if (parts.length == 2 && bucket.isPresent() && parts[1].matches("\\d{1,18}")) {
        listener.newHead(bucket.get(), Long.parseLong(parts[1]));
      }
    }

    private void pause() {
      try {
        boolean end = closed.await(RECONNECT_MS, TimeUnit.MILLISECONDS);
        log.trace("subscriber ends: {}", end);
      } catch (InterruptedException e) {
        closed.countDown();
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void close() {
      closed.countDown();
      RedisConnection current = connection;
      if (current != null && current.getSubscription() != null) {
        current.getSubscription().close();
      }
    }
  }
}
