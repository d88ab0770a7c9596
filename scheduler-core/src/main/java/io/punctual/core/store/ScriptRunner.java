package io.punctual.core.store;

import io.punctual.core.queue.Bucket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.jedis.JedisConnection;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/**
 * Runs scripts on the keys of a bucket, by hash, or by text where Redis does not know them yet.
 * Never sends a script again after an answer was lost: whether to repeat is the caller's decision.
 */
final class ScriptRunner {

  private final RedisConnectionFactory connections;
  private final Keys keys;
  private final TimeSource time;
  private final Confirmation confirmation;
  private final StoreCalls calls;
  private final ClusterEval cluster = new ClusterEval();
  private final Map<String, LuaScript> scripts = new ConcurrentHashMap<>();

  ScriptRunner(
      RedisConnectionFactory connections,
      Keys keys,
      TimeSource time,
      Confirmation confirmation,
      StoreCalls calls) {
    this.connections = connections;
    this.keys = keys;
    this.time = time;
    this.confirmation = confirmation;
    this.calls = calls;
  }

  Keys keys() {
    return keys;
  }

  /** Returns the name of the cluster's node that holds a bucket; empty if it is not known. */
  String node(Bucket bucket) {
    return cluster.node(Keys.bytes(keys.tag(bucket)));
  }

  /**
   * Runs a script.
   *
   * @throws StoreException if Redis was not reached or refused
   */
  Reply run(String name, Bucket bucket, Arguments arguments) {
    return run(name, bucket, arguments, List.of());
  }

  /**
   * Runs a script whose outcome somebody relies on: answers when its changes are as durable as it
   * was asked for.
   *
   * @throws StoreException if Redis was not reached or refused, or they may not be
   */
  Reply runDurably(String name, Bucket bucket, Arguments arguments) {
    return StoreErrors.translated(
        name + " on " + bucket,
        () -> run(name, bucket, arguments, confirmation.commands(keys.tag(bucket))));
  }

  private Reply run(
      String name, Bucket bucket, Arguments arguments, List<CommandArguments> confirming) {
    LuaScript script = scripts.computeIfAbsent(name, n -> LuaScript.load(n, time));
    List<byte[]> bucketKeys = keys.of(bucket);
    byte[][] keysAndArguments = arguments.behind(bucketKeys);
    return calls.make(
        name,
        bucket,
        () ->
            StoreErrors.translated(
                name + " on " + bucket,
                () -> {
                  RedisConnection connection = connections.getConnection();
                  try {
                    return reply(
                        connection, script, bucketKeys.size(), keysAndArguments, confirming);
                  } finally {
                    release(connection);
                  }
                }));
  }

  // Jedis's unified client takes a connection from the pool for each command, and gives it back. To
  // close Spring's object would only look for a transaction to discard, and throw and catch an
  // exception because there is none, for every script.
  private static void release(RedisConnection connection) {
    if (!(connection instanceof JedisConnection)) {
      connection.close();
    }
  }

  private Reply reply(
      RedisConnection connection,
      LuaScript script,
      int keyCount,
      byte[][] keysAndArguments,
      List<CommandArguments> confirming) {
    try {
      return new Reply(
          eval(
              connection,
              Command.EVALSHA,
              script.sha1Bytes(),
              keyCount,
              keysAndArguments,
              confirming));
    } catch (RuntimeException e) {
      if (!StoreErrors.says(e, "NOSCRIPT")) {
        throw e;
      }
      return new Reply(
          eval(connection, Command.EVAL, script.text(), keyCount, keysAndArguments, confirming));
    }
  }

  private List<?> eval(
      RedisConnection connection,
      Command command,
      byte[] script,
      int keyCount,
      byte[][] keysAndArguments,
      List<CommandArguments> confirming) {
    List<?> values;
    if (connection instanceof RedisClusterConnection) {
      RedisClusterClient client = (RedisClusterClient) connection.getNativeConnection();
      List<Object> answers =
          cluster.send(
              client,
              keysAndArguments[0],
              call(command, script, keyCount, keysAndArguments),
              confirming);
      values = (List<?>) answers.get(0);
      confirmation.check(answers.subList(1, answers.size()));
    } else if (!confirming.isEmpty()) {
      UnifiedJedis client = (UnifiedJedis) connection.getNativeConnection();
      List<Object> answers =
          pipelined(client, call(command, script, keyCount, keysAndArguments), confirming);
      values = (List<?>) answers.get(0);
      confirmation.check(answers.subList(1, answers.size()));
    } else if (command == Command.EVALSHA) {
      values =
          connection
              .scriptingCommands()
              .evalSha(script, ReturnType.MULTI, keyCount, keysAndArguments);
    } else {
      values =
          connection.scriptingCommands().eval(script, ReturnType.MULTI, keyCount, keysAndArguments);
    }
    return orEmpty(values);
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
  private static List<Object> pipelined(
      UnifiedJedis client, CommandArguments script, List<CommandArguments> confirming) {
    try (AbstractPipeline pipeline = client.pipelined()) {
      List<Response<Object>> responses = new ArrayList<>();
      responses.add(pipeline.sendCommand(script));
      confirming.forEach(command -> responses.add(pipeline.sendCommand(command)));
      pipeline.sync();
      List<Object> answers = new ArrayList<>();
      answers.add(responses.get(0).get());
      for (Response<Object> response : responses.subList(1, responses.size())) {
        answers.add(Confirmation.answer(response));
      }
      return answers;
    }
  }

  private static List<?> orEmpty(@Nullable List<?> values) {
    return values == null ? List.of() : values;
  }
}
