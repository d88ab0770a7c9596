package io.punctual.core.store.redis.script;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.durability.Reached;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.DataType;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.jedis.JedisConnection;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/**
 * Runs scripts on the keys of a bucket, by hash, or by text where Redis does not know them yet.
 * Never sends a script again after an answer was lost: whether to repeat is the caller's decision.
 */
public final class ScriptRunner {

  private static final String STAMPING = "compare queues";

  // The keys that directory/stamps reads, as places in KEYS.
  private static final int[] STAMPED =
      Stream.of("delayed", "reserved", "dead", "stats", "control")
          .mapToInt(Keys.SUFFIXES::indexOf)
          .toArray();

  private final RedisConnectionFactory connections;
  private final Keys keys;
  private final Map<String, LuaScript> scripts;
  private final @Nullable Confirmation confirmation;
  private final @Nullable Confirmation endConfirmation;
  private final StoreCalls calls;
  // Where a key had a foreign type: no call does half of its work there until all keys are sound.
  private final Set<Bucket> damaged = ConcurrentHashMap.newKeySet();
  private final ClusterEval cluster = new ClusterEval();

  /**
   * @param scripts by name
   * @param confirmation of changes that are to be durable; null if {@link #runDurably} is not used
   * @param endConfirmation of ends of attempts; null if they are not confirmed
   */
  public ScriptRunner(
      RedisConnectionFactory connections,
      Keys keys,
      Map<String, LuaScript> scripts,
      @Nullable Confirmation confirmation,
      @Nullable Confirmation endConfirmation,
      StoreCalls calls) {
    this.connections = connections;
    this.keys = keys;
    this.scripts = scripts;
    this.confirmation = confirmation;
    this.endConfirmation = endConfirmation;
    this.calls = calls;
  }

  public Keys keys() {
    return keys;
  }

  /** Returns the name of the cluster's node that holds a bucket; empty if it is not known. */
  public String node(Bucket bucket) {
    return cluster.node(Keys.bytes(keys.tag(bucket)));
  }

  /**
   * Runs a script.
   *
   * @throws StoreException if Redis was not reached or refused
   */
  public Reply run(String name, Bucket bucket, Arguments arguments) {
    return run(name, bucket, arguments, (Confirmation) null);
  }

  /**
   * Runs a script that ends attempts: answers when a replica has its changes, if ends are to be
   * confirmed and replicas confirm.
   *
   * @throws StoreException if Redis was not reached or refused
   */
  public Reply runEnds(String name, Bucket bucket, Arguments arguments) {
    return run(name, bucket, arguments, endConfirmation);
  }

  /**
   * Runs a script whose outcome somebody relies on: answers when its changes are as durable as it
   * was asked for.
   *
   * @throws StoreException if Redis was not reached or refused, or they may not be
   */
  public Reply runDurably(String name, Bucket bucket, Arguments arguments) {
    Confirmation durable = Objects.requireNonNull(confirmation);
    return StoreErrors.translated(
        name + " on " + bucket,
        () -> {
          durable.requireFit();
          Reply reply = run(name, bucket, arguments, durable);
          durable.acknowledged(reply.reached());
          calls.reached(reply.reached());
          return reply;
        });
  }

  private Reply run(
      String name, Bucket bucket, Arguments arguments, @Nullable Confirmation confirmed) {
    Behind behind = confirmed == null ? null : new Behind(confirmed, keys.tag(bucket));
    return calls.make(
        name,
        bucket,
        () -> run(name, name + " on " + bucket, bucket, keys.of(bucket), arguments, behind));
  }

  /**
   * Runs a script on a key that belongs to no bucket.
   *
   * @param call identifies the call to listeners
   * @param what it does, for errors
   * @throws StoreException if Redis was not reached or refused
   */
  public Reply run(String call, String name, String what, byte[] key, Arguments arguments) {
    return calls.make(call, null, () -> run(name, what, null, List.of(key), arguments, null));
  }

  /**
   * Runs directory/stamps on many buckets. In Redis Cluster each bucket has its own call.
   *
   * @return the store's time, and a stamp for each bucket
   * @throws StoreException if Redis was not reached or refused
   */
  public Reply stamps(List<Bucket> buckets) {
    if (!isCluster()) {
      return stampsOf(buckets);
    }
    List<Object> all = new ArrayList<>();
    for (Bucket bucket : buckets) {
      Reply one = stampsOf(List.of(bucket));
      all.addAll(one.values().subList(all.isEmpty() ? 0 : 1, 2));
    }
    return new Reply(all, Reached.REDIS);
  }

  private boolean isCluster() {
    return StoreErrors.translated(
        STAMPING,
        () -> {
          RedisConnection connection = connections.getConnection();
          try {
            return connection instanceof RedisClusterConnection;
          } finally {
            release(connection);
          }
        });
  }

  private Reply stampsOf(List<Bucket> buckets) {
    List<byte[]> on = new ArrayList<>(STAMPED.length * buckets.size() + 1);
    for (Bucket bucket : buckets) {
      List<byte[]> all = keys.of(bucket);
      for (int key : STAMPED) {
        on.add(all.get(key));
      }
    }
    List<byte[]> first = keys.of(buckets.get(0));
    on.addAll(first.subList(Keys.SUFFIXES.size(), first.size()));
    return run("stamps", "directory/stamps", STAMPING, on, new Arguments(0));
  }

  /**
   * Runs a script on keys that belong to no bucket and share a slot.
   *
   * @param call identifies the call to listeners
   * @param what it does, for errors
   * @throws StoreException if Redis was not reached or refused
   */
  public Reply run(String call, String name, String what, List<byte[]> on, Arguments arguments) {
    return calls.make(call, null, () -> run(name, what, null, on, arguments, null));
  }

  /**
   * The same, of a script whose outcome a user relies on.
   *
   * @param tag what its keys begin with
   * @throws StoreException if Redis was not reached or refused, or its changes may not be durable
   */
  public Reply runDurably(
      String call, String name, String what, String tag, List<byte[]> on, Arguments arguments) {
    Confirmation durable = Objects.requireNonNull(confirmation);
    return StoreErrors.translated(
        what,
        () -> {
          durable.requireFit();
          Behind behind = new Behind(durable, tag);
          Reply reply = calls.make(call, null, () -> run(name, what, null, on, arguments, behind));
          durable.acknowledged(reply.reached());
          calls.reached(reply.reached());
          return reply;
        });
  }

  private Reply run(
      String name,
      String what,
      @Nullable Bucket bucket,
      List<byte[]> on,
      Arguments arguments,
      @Nullable Behind behind) {
    LuaScript script = Objects.requireNonNull(scripts.get(name), name);
    byte[][] keysAndArguments = arguments.behind(on);
    return StoreErrors.translated(
        what,
        () -> {
          RedisConnection connection = connections.getConnection();
          try {
            if (bucket != null && damaged.contains(bucket)) {
              requireTypes(connection, what, on, null);
              damaged.remove(bucket);
            }
            return reply(connection, script, on.size(), keysAndArguments, behind);
          } catch (RuntimeException e) {
            if (bucket != null && StoreErrors.says(e, "WRONGTYPE")) {
              damaged.add(bucket);
              requireTypes(connection, what, on, e);
            }
            throw e;
          } finally {
            release(connection);
          }
        });
  }

  // A script checks the keys that it needs, and Redis does not say which of them has a foreign
  // type.
  private static void requireTypes(
      RedisConnection connection, String what, List<byte[]> on, @Nullable RuntimeException e) {
    for (int i = 0; i < Math.min(on.size(), Keys.SUFFIXES.size()); i++) {
      DataType found = Objects.requireNonNull(connection.keyCommands().type(on.get(i)));
      if (found != DataType.NONE && !found.code().equals(Keys.type(i))) {
        throw StoreErrors.foreignType(
            what,
            "%s is a %s, not a %s"
                .formatted(
                    new String(on.get(i), StandardCharsets.UTF_8), found.code(), Keys.type(i)),
            e);
      }
    }
  }

  // Jedis's unified client takes a connection from the pool for each command, and gives it back. To
  // close Spring's object would only look for a transaction to discard, and throw and catch an
  // exception because there is none, for every script.
  private static void release(RedisConnection connection) {
    if (!(connection instanceof JedisConnection)) {
      connection.close();
    }
  }

  /**
   * What is sent behind a script.
   *
   * @param tag of the bucket whose changes must be durable
   */
  private record Behind(Confirmation confirmation, String tag) {}

  /**
   * @param behind null if nothing need be confirmed
   */
  private Reply reply(
      RedisConnection connection,
      LuaScript script,
      int keyCount,
      byte[][] keysAndArguments,
      @Nullable Behind behind) {
    try {
      return eval(
          connection, Command.EVALSHA, script.sha1Bytes(), keyCount, keysAndArguments, behind);
    } catch (RuntimeException e) {
      if (!StoreErrors.says(e, "NOSCRIPT")) {
        throw e;
      }
      return eval(connection, Command.EVAL, script.text(), keyCount, keysAndArguments, behind);
    }
  }

  private Reply eval(
      RedisConnection connection,
      Command command,
      byte[] script,
      int keyCount,
      byte[][] keysAndArguments,
      @Nullable Behind behind) {
    if (connection instanceof RedisClusterConnection) {
      RedisClusterClient client = (RedisClusterClient) connection.getNativeConnection();
      return cluster.send(
          client,
          keysAndArguments[0],
          call(command, script, keyCount, keysAndArguments),
          node -> behind == null ? Reached.REDIS : confirm(node, behind));
    }
    Confirmation.Commands confirming =
        behind == null
            ? Confirmation.Commands.NONE
            : behind
                .confirmation()
                .commands("", behind.tag(), commands -> pipelined(connection, commands));
    if (behind != null && !confirming.list().isEmpty()) {
      return evalDurably(
          (UnifiedJedis) connection.getNativeConnection(),
          call(command, script, keyCount, keysAndArguments),
          behind.confirmation(),
          confirming);
    }
    List<?> values =
        command == Command.EVALSHA
            ? connection
                .scriptingCommands()
                .evalSha(script, ReturnType.MULTI, keyCount, keysAndArguments)
            : connection
                .scriptingCommands()
                .eval(script, ReturnType.MULTI, keyCount, keysAndArguments);
    return new Reply(
        orEmpty(values),
        behind == null ? Reached.REDIS : behind.confirmation().check(confirming, List.of()));
  }

  private static Reached confirm(Connection node, Behind behind) {
    Confirmation confirmation = behind.confirmation();
    Confirmation.Commands confirming =
        confirmation.commands(ClusterEval.name(node), behind.tag(), ClusterEval.node(node));
    List<Object> answers = new ArrayList<>();
    for (CommandArguments command : confirming.list()) {
      answers.add(confirmation.answer(() -> ClusterEval.execute(node, command)));
    }
    return confirmation.check(confirming, answers);
  }

  private static CommandArguments call(
      Command command, byte[] script, int keyCount, byte[][] keysAndArguments) {
    CommandArguments arguments = new CommandArguments(command).add(script).add(keyCount);
    for (byte[] value : keysAndArguments) {
      arguments.add(value);
    }
    return arguments;
  }

  // On one connection, in one round trip. What is confirmed is what this connection did.
  private static Reply evalDurably(
      UnifiedJedis client,
      CommandArguments script,
      Confirmation confirmation,
      Confirmation.Commands confirming) {
    try (AbstractPipeline pipeline = client.pipelined()) {
      Response<Object> values = pipeline.sendCommand(script);
      List<Response<Object>> responses =
          confirming.list().stream().map(pipeline::sendCommand).toList();
      pipeline.sync();
      List<?> result = (List<?>) values.get();
      List<Object> answers = responses.stream().map(confirmation::answer).toList();
      return new Reply(orEmpty(result), confirmation.check(confirming, answers));
    }
  }

  /** Sends commands on one connection, in one round trip. */
  public static List<Object> pipelined(
      RedisConnection connection, List<CommandArguments> commands) {
    UnifiedJedis client = (UnifiedJedis) connection.getNativeConnection();
    try (AbstractPipeline pipeline = client.pipelined()) {
      List<Response<Object>> responses = commands.stream().map(pipeline::sendCommand).toList();
      pipeline.sync();
      return responses.stream().map(Response::get).toList();
    }
  }

  static List<?> orEmpty(@Nullable List<?> values) {
    return values == null ? List.of() : values;
  }
}
