package io.punctual.core.store;

import io.punctual.core.queue.Bucket;
import io.punctual.core.queue.QueueName;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** The hash of all queues. */
final class RedisQueueDirectory implements QueueDirectory {

  private static final String CALL = "queues";

  private final RedisConnectionFactory connections;
  private final Keys keys;
  private final StoreCalls calls;
  // A queue keeps its number of buckets, so what was seen stays true.
  private final Map<QueueName, Integer> seen = new ConcurrentHashMap<>();

  RedisQueueDirectory(RedisConnectionFactory connections, Keys keys, StoreCalls calls) {
    this.connections = connections;
    this.keys = keys;
    this.calls = calls;
  }

  private <T> T call(String what, Supplier<T> call) {
    return calls.make(CALL, null, () -> StoreErrors.translated(what, call));
  }

  @Override
  public OptionalInt register(QueueName queue, int buckets, int max) {
    Integer known = seen.get(queue);
    if (known != null) {
      return OptionalInt.of(known);
    }
    OptionalInt found =
        call(
            "register " + queue,
            () -> {
              try (RedisConnection connection = connections.getConnection()) {
                return register(connection, queue, buckets, max);
              }
            });
    found.ifPresent(number -> seen.put(queue, number));
    return found;
  }

  private OptionalInt register(RedisConnection connection, QueueName queue, int buckets, int max) {
    byte[] field = Keys.bytes(Keys.name(queue));
    byte[] wanted = Keys.bytes(Integer.toString(buckets));
    Boolean made = connection.hashCommands().hSetNX(keys.queues(), field, wanted);
    // Counted behind the write: of those that come at once, none is overlooked.
    if (Boolean.TRUE.equals(made) && isFull(connection, queue, max)) {
      connection.hashCommands().hDel(keys.queues(), field);
      return OptionalInt.empty();
    }
    byte[] value = connection.hashCommands().hGet(keys.queues(), field);
    if (value == null) {
      throw new StoreException(
          StoreException.Kind.UNREACHABLE,
          "register " + queue + ": it vanished again; was there a fail-over?");
    }
    return OptionalInt.of(number(queue, value));
  }

  private boolean isFull(RedisConnection connection, QueueName queue, int max) {
    Long all = connection.hashCommands().hLen(keys.queues());
    if (all == null || all <= max) {
      return false;
    }
    Set<byte[]> names = connection.hashCommands().hKeys(keys.queues());
    return names != null
        && names.stream()
                .map(name -> Keys.parseQueue(new String(name, StandardCharsets.UTF_8)))
                .filter(
                    name ->
                        name.isPresent() && name.get().application().equals(queue.application()))
                .count()
            > max;
  }

  @Override
  public OptionalInt buckets(QueueName queue) {
    return call(
        "find " + queue,
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            byte[] value =
                connection.hashCommands().hGet(keys.queues(), Keys.bytes(Keys.name(queue)));
            return value == null ? OptionalInt.empty() : OptionalInt.of(number(queue, value));
          }
        });
  }

  @Override
  public long count() {
    return call(
        "count queues",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            Long count = connection.hashCommands().hLen(keys.queues());
            return count == null ? 0 : count;
          }
        });
  }

  @Override
  public Map<QueueName, Integer> all() {
    return call(
        "list queues",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            Map<byte[], byte[]> entries = connection.hashCommands().hGetAll(keys.queues());
            Map<QueueName, Integer> queues = new TreeMap<>();
            if (entries != null) {
              entries.forEach(
                  (name, buckets) ->
                      Keys.parseQueue(new String(name, StandardCharsets.UTF_8))
                          .ifPresent(queue -> queues.put(queue, number(queue, buckets))));
            }
            seen.putAll(queues);
            // What a fail-over forgot is registered again by the next submit.
            seen.keySet().retainAll(queues.keySet());
            return queues;
          }
        });
  }

  private static int number(QueueName queue, byte[] value) {
    String text = new String(value, StandardCharsets.UTF_8);
    if (!text.matches("[1-9]\\d?") || Integer.parseInt(text) > Bucket.MAX_BUCKETS) {
      throw new StoreException(
          StoreException.Kind.CORRUPT,
          "the directory of queues says that "
              + queue
              + " has '"
              + text
              + "' buckets; set that field to the right number, 1 to "
              + Bucket.MAX_BUCKETS);
    }
    return Integer.parseInt(text);
  }
}
