package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.QueueDirectory;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.RedisCalls;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** The hash of all queues. */
final class RedisQueueDirectory implements QueueDirectory {

  private static final String CALL = "queues";
  private static final Pattern NUMBER = Pattern.compile("[1-9]\\d?");
  private static final String REGISTER = "directory/register";

  private final ScriptRunner scripts;
  private final Keys keys;
  private final RedisCalls calls;
  // A queue keeps its number of buckets, so what was seen stays true.
  private final Map<QueueName, Integer> seen = new ConcurrentHashMap<>();

  RedisQueueDirectory(RedisConnectionFactory connections, ScriptRunner scripts, StoreCalls calls) {
    this.scripts = scripts;
    this.keys = scripts.keys();
    this.calls = new RedisCalls(connections, calls, CALL);
  }

  @Override
  public OptionalInt register(QueueName queue, int buckets, int max) {
    Integer known = seen.get(queue);
    if (known != null) {
      return OptionalInt.of(known);
    }
    Arguments arguments =
        new Arguments()
            .add(Keys.name(queue))
            .add(Keys.namesOf(queue.application()))
            .add(buckets)
            .add(max);
    byte[] value =
        scripts.run(CALL, REGISTER, "register " + queue, keys.queues(), arguments).bytes(0);
    if (value.length == 0) {
      return OptionalInt.empty();
    }
    int number = number(queue, value);
    seen.put(queue, number);
    return OptionalInt.of(number);
  }

  @Override
  public OptionalInt buckets(QueueName queue) {
    return calls.make(
        "find " + queue,
        connection -> {
          byte[] value =
              connection.hashCommands().hGet(keys.queues(), Keys.bytes(Keys.name(queue)));
          return value == null ? OptionalInt.empty() : OptionalInt.of(number(queue, value));
        });
  }

  @Override
  public long count() {
    return calls.make(
        "count queues",
        connection -> {
          Long count = connection.hashCommands().hLen(keys.queues());
          return count == null ? 0 : count;
        });
  }

  @Override
  public Map<QueueName, Integer> all() {
    return calls.make(
        "list queues",
        connection -> {
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
        });
  }

  @Override
  public @Nullable Pause pause(String application, Pause.@Nullable Terms terms) {
    Arguments arguments =
        new Arguments()
            .add(application)
            .add(terms == null ? 0 : terms.millis())
            .add(terms == null ? "" : terms.words());
    String kept =
        scripts
            .runDurably(
                CALL,
                "directory/pause",
                "pause " + application,
                keys.pausesTag(),
                keys.pauses(),
                arguments)
            .text(1);
    return kept.isEmpty() ? null : Pause.parse(Pause.Scope.APPLICATION, kept);
  }

  @Override
  public Pauses pauses() {
    Reply reply =
        scripts.run(CALL, "directory/paused", "read the pauses", keys.pauses(), new Arguments());
    List<String> pairs = reply.textsFrom(1);
    Map<String, Pause> pauses = new HashMap<>();
    for (int i = 0; i < pairs.size(); i += 2) {
      pauses.put(pairs.get(i), Pause.parse(Pause.Scope.APPLICATION, pairs.get(i + 1)));
    }
    return new Pauses(reply.number(0), Map.copyOf(pauses));
  }

  private static int number(QueueName queue, byte[] value) {
    String text = new String(value, StandardCharsets.UTF_8);
    if (!NUMBER.matcher(text).matches() || Integer.parseInt(text) > Bucket.MAX_BUCKETS) {
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
