package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.WakeUps;
import io.punctual.core.store.redis.script.Keys;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import redis.clients.jedis.BinaryJedisPubSub;
import redis.clients.jedis.UnifiedJedis;

/**
 * Listens on the wake-up channel; one thread that subscribes again whenever it lost Redis.
 *
 * <p>The subscription runs on a connection of the driver's pool, and that goes back to the pool
 * afterwards. A reply that nobody read would then be taken for the answer to somebody else's
 * command. So UNSUBSCRIBE is sent at most once, and only after SUBSCRIBE was answered: then its own
 * answer ends the listening and is the last one. And the listening thread does not let go of the
 * connection while close() is still in the middle of sending: the bytes may have arrived before the
 * driver has noted that they are gone. Spring's subscription keeps none of these rules, hence the
 * driver's own is used.
 */
final class RedisWakeUps implements WakeUps {

  private static final Logger log = LoggerFactory.getLogger(RedisWakeUps.class);
  private static final long RECONNECT_MS = 500;

  /** What a message ends with that offers a due job to other engines. */
  static final String OFFERED = "offered";

  /** What precedes the id of a job whose holder is to stop, see cancel.lua. */
  private static final String CANCELLING = "cancelling";

  /** The message that a member has come or gone, see members/beat.lua. */
  private static final String MEMBERS = "members";

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
    private boolean complained;
    // Guarded by this: the subscription that was answered and has not ended.
    private @Nullable Subscription current;

    Subscriber(Listener listener) {
      this.listener = listener;
    }

    @Override
    public void run() {
      do {
        try (RedisConnection connection = connections.getConnection()) {
          UnifiedJedis driver = (UnifiedJedis) connection.getNativeConnection();
          // Blocks until the connection breaks or close() unsubscribes.
          driver.subscribe(new Subscription(this), keys.wakeUpChannel());
        } catch (RuntimeException | Error e) {
          if (!complained && !isClosed()) {
            log.warn("Wake-up hints are off, safety checks go on: {}", e.getMessage());
            complained = true;
          }
        } finally {
          ended();
        }
        if (!isClosed()) {
          guarded(listener::lost);
        }
      } while (!closedWithin(RECONNECT_MS));
    }

    private synchronized boolean started(Subscription subscription) {
      if (isClosed()) {
        return false;
      }
      current = subscription;
      return true;
    }

    // Waits for a close() that is still sending.
    private synchronized void ended() {
      current = null;
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

    /** Ends the listening; a subscription that is being made ends as soon as it is there. */
    @Override
    public synchronized void close() {
      closed.countDown();
      Subscription subscription = current;
      current = null;
      if (subscription != null) {
        try {
          subscription.unsubscribe();
        } catch (RuntimeException e) {
          log.debug("The connection of the subscription was lost already: {}", e.getMessage());
        }
      }
    }

    void connected() {
      if (complained) {
        log.info("Wake-up hints are on again");
        complained = false;
      }
      // Whatever was sent while nobody listened is lost.
      listener.gap();
    }

    void message(String text) {
      if (text.equals(MEMBERS)) {
        listener.membersChanged();
        return;
      }
      String[] parts = text.split(" ", -1);
      Optional<Bucket> bucket = Keys.parseBucket(parts[0]);
      if (parts.length < 2 || bucket.isEmpty() || !parts[1].matches("\\d{1,18}")) {
        return;
      }
      long due = Long.parseLong(parts[1]);
      if (parts.length == 2) {
        listener.newHead(bucket.get(), due);
      } else if (parts.length == 3 && parts[2].equals(OFFERED)) {
        listener.offered(bucket.get(), due);
      } else if (parts.length == 4 && parts[2].equals(CANCELLING)) {
        listener.cancelling(bucket.get(), parts[3]);
      }
    }
  }

  private static final class Subscription extends BinaryJedisPubSub {

    private final Subscriber subscriber;

    Subscription(Subscriber subscriber) {
      this.subscriber = subscriber;
    }

    @Override
    public void onSubscribe(byte[] channel, int subscribedChannels) {
      if (subscriber.started(this)) {
        guarded(subscriber::connected);
      } else {
        unsubscribe();
      }
    }

    @Override
    public void onUnsubscribe(byte[] channel, int subscribedChannels) {
      subscriber.ended();
    }

    @Override
    public void onMessage(byte[] channel, byte[] message) {
      guarded(() -> subscriber.message(new String(message, StandardCharsets.UTF_8)));
    }
  }

  // Whatever a listener throws: the driver would put the connection back, still subscribed.
  private static void guarded(Runnable call) {
    try {
      call.run();
    } catch (RuntimeException | Error e) {
      log.error("A listener of wake-up hints failed", e);
    }
  }
}
