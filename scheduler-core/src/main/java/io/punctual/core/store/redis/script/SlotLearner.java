package io.punctual.core.store.redis.script;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.commands.KeyBinaryCommands;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Lets the client of a cluster learn where the slots are now, by a harmless read that the client
 * may repeat. The read can take seconds while a master is missing, so only one thread makes it.
 */
public final class SlotLearner {

  private static final Logger log = LoggerFactory.getLogger(SlotLearner.class);

  private final ThreadFactory threads;
  private final AtomicBoolean learning = new AtomicBoolean();

  public SlotLearner() {
    this(
        task -> {
          Thread thread = new Thread(task, "punctual-slots");
          thread.setDaemon(true);
          return thread;
        });
  }

  public SlotLearner(ThreadFactory threads) {
    this.threads = threads;
  }

  /** Reads a key, unless another thread is reading one. */
  void learn(KeyBinaryCommands client, byte[] key) {
    if (learning.compareAndSet(false, true)) {
      read(client, key);
    }
  }

  /** Reads a key on another thread, unless a thread is reading one. */
  public void learnInBackground(KeyBinaryCommands client, byte[] key) {
    if (!learning.compareAndSet(false, true)) {
      return;
    }
    try {
      threads.newThread(() -> read(client, key)).start();
    } catch (RuntimeException | Error e) {
      // No memory for a thread, for instance.
      learning.set(false);
      log.warn(
          "No thread could be started to read the cluster's slots. The next look at the marks tries"
              + " again. Give the process more memory or threads",
          e);
    }
  }

  private void read(KeyBinaryCommands client, byte[] key) {
    try {
      client.type(key);
    } catch (JedisException e) {
      // The next call that misses the slot reads again.
      log.debug("No node has the slot of {} yet", new String(key, StandardCharsets.UTF_8), e);
    } finally {
      learning.set(false);
    }
  }
}
