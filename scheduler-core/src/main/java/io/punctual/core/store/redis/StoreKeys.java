package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.StoreErrors;
import io.punctual.core.store.redis.script.TimeSource;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.springframework.data.redis.connection.DataType;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisKeyCommands;

/**
 * The keys of a store that is used for a check and thrown away. Needs no right that a scheduler
 * does not need: it looks at single keys, never through all of them.
 */
public final class StoreKeys {

  private final RedisConnectionFactory connections;
  private final Keys keys;
  private final Set<Bucket> buckets;

  /**
   * @param prefix of the store
   * @param buckets of all queues that are used
   */
  public StoreKeys(RedisConnectionFactory connections, String prefix, Set<Bucket> buckets) {
    this.connections = connections;
    this.keys = new Keys(prefix, TimeSource.REDIS);
    this.buckets = Set.copyOf(buckets);
  }

  /**
   * Returns the keys that exist.
   *
   * @param marks as the store's {@code epoch()} names them
   * @param others further keys
   * @throws StoreException if Redis was not reached or refused
   */
  public List<String> present(Collection<String> marks, Collection<String> others) {
    return StoreErrors.translated(
        "look for keys of the check",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            RedisKeyCommands commands = connection.keyCommands();
            return all(marks, others).stream()
                .filter(key -> commands.type(Keys.bytes(key)) != DataType.NONE)
                .toList();
          }
        });
  }

  /**
   * Removes them, those too that come behind one that Redis refuses to remove.
   *
   * @param marks as the store's {@code epoch()} names them
   * @param others further keys
   * @throws StoreException if one of them was not removed: why
   */
  public void remove(Collection<String> marks, Collection<String> others) {
    StoreException failed = null;
    for (String key : all(marks, others)) {
      try {
        remove(Keys.bytes(key));
      } catch (StoreException e) {
        failed = e;
        if (e.kind() == StoreException.Kind.UNREACHABLE) {
          break;
        }
      }
    }
    if (failed != null) {
      throw failed;
    }
  }

  // A key whose time is over is gone at once. A scheduler has no right to DEL.
  private void remove(byte[] key) {
    var unused =
        StoreErrors.translated(
            "remove a key of the check",
            () -> {
              try (RedisConnection connection = connections.getConnection()) {
                return connection.keyCommands().pExpire(key, 0);
              }
            });
  }

  private List<String> all(Collection<String> marks, Collection<String> others) {
    List<String> all = new ArrayList<>(others);
    keys.all(buckets, marks).forEach(key -> all.add(new String(key, StandardCharsets.UTF_8)));
    return all;
  }
}
