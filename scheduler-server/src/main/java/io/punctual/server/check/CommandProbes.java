package io.punctual.server.check;

import io.punctual.server.check.Table.Result;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import redis.clients.jedis.BinaryJedisPubSub;
import redis.clients.jedis.ClusterCommandArguments;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** Calls each command that Punctual calls, in scripts and outside, on keys of the check. */
final class CommandProbes {

  /** In scripts: by command, a call that uses it as Punctual's scripts do, and the answer. */
  private static final Map<String, Map<String, String[]>> SCRIPTS = new LinkedHashMap<>();

  static {
    Map<String, String[]> lua = group("Lua");
    lua.put("TIME", probe("local t = redis.call('TIME') return #t", "2"));
    lua.put(
        "TIME before a write",
        probe("local t = redis.call('TIME') redis.call('HSET', KEYS[1], 't', t[1]) return 1", "1"));
    lua.put("struct", probe("return struct.unpack('>I6', struct.pack('>I6', 4711))", "4711"));
    lua.put("redis.sha1hex", probe("return string.sub(redis.sha1hex('a'), 1, 6)", "86f7e4"));
    lua.put("redis.pcall", probe("return redis.pcall('ZCARD', KEYS[1]).err and 1 or 0", "1"));
    Map<String, String[]> hashes = group("hashes in scripts");
    hashes.put("HSET", probe("return redis.call('HSET', KEYS[2], 'a', '1', 'b', '2')", "2"));
    hashes.put("HGET", probe("return redis.call('HGET', KEYS[2], 'b')", "2"));
    hashes.put("HMGET", probe("return #redis.call('HMGET', KEYS[2], 'a', 'b', 'c')", "3"));
    hashes.put("HGETALL", probe("return #redis.call('HGETALL', KEYS[2])", "4"));
    hashes.put("HLEN", probe("return redis.call('HLEN', KEYS[2])", "2"));
    hashes.put("HINCRBY", probe("return redis.call('HINCRBY', KEYS[2], 'a', 4)", "5"));
    hashes.put("HDEL", probe("return redis.call('HDEL', KEYS[2], 'a', 'c')", "1"));
    Map<String, String[]> sets = group("sorted sets in scripts");
    sets.put("ZADD", probe("return redis.call('ZADD', KEYS[3], 0, 'a', 0, 'b', 0, 'c')", "3"));
    sets.put("ZCARD", probe("return redis.call('ZCARD', KEYS[3])", "3"));
    sets.put("ZSCORE", probe("return redis.call('ZSCORE', KEYS[3], 'a')", "0"));
    sets.put("ZMSCORE", probe("return #redis.call('ZMSCORE', KEYS[3], 'a', 'x')", "2"));
    sets.put("ZCOUNT", probe("return redis.call('ZCOUNT', KEYS[3], '-inf', '(1')", "3"));
    sets.put(
        "ZRANGE", probe("return redis.call('ZRANGE', KEYS[3], 0, 0, 'REV', 'WITHSCORES')[1]", "c"));
    sets.put(
        "ZRANGEBYSCORE",
        probe(
            "return #redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', '1', 'WITHSCORES', 'LIMIT', 0,"
                + " 2)",
            "4"));
    sets.put(
        "ZRANGEBYLEX",
        probe("return #redis.call('ZRANGEBYLEX', KEYS[3], '(a', '[c', 'LIMIT', 0, 5)", "2"));
    sets.put("ZREM", probe("return redis.call('ZREM', KEYS[3], 'c')", "1"));
    sets.put("ZREMRANGEBYRANK", probe("return redis.call('ZREMRANGEBYRANK', KEYS[3], 0, 0)", "1"));
    Map<String, String[]> keys = group("keys in scripts");
    keys.put("PEXPIRE", probe("return redis.call('PEXPIRE', KEYS[3], '60000')", "1"));
    keys.put(
        "MEMORY USAGE",
        probe(
            "return (redis.call('MEMORY', 'USAGE', KEYS[3], 'SAMPLES', '20') or 0) > 0 and 1",
            "1"));
  }

  private static Map<String, String[]> group(String name) {
    return SCRIPTS.computeIfAbsent(name, unused -> new LinkedHashMap<>());
  }

  private static String[] probe(String script, String answer) {
    return new String[] {script, answer};
  }

  private final UnifiedJedis server;
  private final boolean cluster;
  private final String user;
  private final Table table;
  private final List<String> keys;
  private final String channel;
  private final List<String> called = new ArrayList<>();

  /**
   * @param user whose rights are tried; empty for the default user
   * @param prefix of the keys and the channel
   */
  CommandProbes(UnifiedJedis server, boolean cluster, String user, String prefix, Table table) {
    this.server = server;
    this.cluster = cluster;
    this.user = user;
    this.table = table;
    this.keys = keys(prefix);
    this.channel = prefix + ":wake";
  }

  /** The keys that it makes; those in braces share a slot. */
  static List<String> keys(String prefix) {
    String tag = prefix + ":{probe}:";
    return List.of(
        tag + "time", tag + "hash", tag + "sorted", tag + "text", tag + "once", tag + "list");
  }

  /** The commands that were tried; of those with a subcommand, with a bar between. */
  List<String> called() {
    return List.copyOf(called);
  }

  /** A try that throws what the server or its driver throws. */
  private interface Try {
    String get() throws InterruptedException;
  }

  /**
   * Tries what makes no key.
   *
   * @return whether keys can be made and removed
   */
  boolean readOnly() throws InterruptedException {
    Group group = new Group("connections");
    group.tries("PING", "PONG", () -> send(Command.PING));
    group.tries("INFO", null, () -> send(Command.INFO));
    group.tries("TIME", null, () -> send(Command.TIME));
    if (cluster) {
      group.tries("CLUSTER INFO", null, () -> send(Command.CLUSTER, "INFO"));
      group.tries("CLUSTER NODES", null, () -> send(Command.CLUSTER, "NODES"));
      group.tries("CLUSTER SLOTS", null, () -> send(Command.CLUSTER, "SLOTS"));
    }
    group.end();
    group = new Group("keys");
    group.tries("TYPE", "none", () -> send(Command.TYPE, keys.get(0)));
    group.tries("PEXPIRE", "0", () -> send(Command.PEXPIRE, keys.get(0), "0"));
    group.end();
    return !group.failed();
  }

  /** Tries all others. */
  void all() throws InterruptedException {
    Group group = new Group("keys outside scripts");
    group.tries("SET", "OK", () -> send(Command.SET, keys.get(3), "x"));
    group.tries("HSETNX", "1", () -> send(Command.HSETNX, keys.get(4), "a", "1"));
    group.tries("HSET", "1", () -> send(Command.HSET, keys.get(4), "b", "1"));
    group.tries("HGET", "1", () -> send(Command.HGET, keys.get(4), "a"));
    group.tries("HGETALL", null, () -> send(Command.HGETALL, keys.get(4)));
    group.tries("HLEN", "2", () -> send(Command.HLEN, keys.get(4)));
    group.tries("HINCRBY", "2", () -> send(Command.HINCRBY, keys.get(4), "a", "1"));
    group.tries("HDEL", "1", () -> send(Command.HDEL, keys.get(4), "a"));
    group.tries("LPUSH", "1", () -> send(Command.LPUSH, keys.get(5), "a"));
    group.tries("LRANGE", null, () -> send(Command.LRANGE, keys.get(5), "0", "0"));
    group.tries("LTRIM", "OK", () -> send(Command.LTRIM, keys.get(5), "0", "0"));
    group.end();
    Group scripts = new Group("scripts");
    scripts.tries("EVAL", "1", () -> eval(Command.EVAL, "return 1"));
    scripts.tries(
        "EVALSHA", "1", () -> eval(Command.EVALSHA, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"));
    scripts.end();
    for (Map.Entry<String, Map<String, String[]>> entry : SCRIPTS.entrySet()) {
      if (scripts.failed()) {
        table.add(Result.SKIPPED, entry.getKey(), "needs scripts");
        continue;
      }
      Group one = new Group(entry.getKey());
      for (Map.Entry<String, String[]> probe : entry.getValue().entrySet()) {
        String answer = probe.getValue()[1];
        one.tries(probe.getKey(), answer, () -> eval(Command.EVAL, probe.getValue()[0]));
      }
      one.end();
    }
    publishing(scripts.failed());
    optional();
  }

  // One listens while another one publishes in a script.
  private void publishing(boolean noScripts) throws InterruptedException {
    Group group = new Group("publish and subscribe");
    try (Listening listening = new Listening()) {
      group.tries("SUBSCRIBE", null, listening::begun);
      if (!noScripts) {
        group.tries(
            "PUBLISH",
            null,
            () -> eval(Command.EVAL, "return redis.call('PUBLISH', '" + channel + "', 'checked')"));
      }
      if (!group.failed()) {
        group.tries("a message arrives", "checked", listening::message);
        group.tries("UNSUBSCRIBE", null, listening::ended);
      }
    }
    group.end();
  }

  // What Punctual does without.
  private void optional() throws InterruptedException {
    long start = System.nanoTime();
    called.add("WAIT");
    try {
      String confirming = send(Command.WAIT, "0", "100");
      table.add(Result.OK, "WAIT", "replicas that confirm: " + confirming + time(start));
    } catch (JedisException e) {
      table.add(
          Result.NOTE,
          "WAIT",
          reason(e)
              + ". Punctual cannot wait for replicas: durability auto does without,"
              + " replicated:n fails");
    }
    start = System.nanoTime();
    try {
      var unused = send(Command.CONFIG, "GET", "appendfsync");
      table.add(Result.OK, "CONFIG GET", "readable" + time(start));
    } catch (JedisException e) {
      table.add(
          Result.NOTE,
          "CONFIG GET",
          reason(e)
              + ". Punctual then cannot see appendfsync and snapshots, and durability synced needs"
              + " WAITAOF (Redis 7.2)");
    }
  }

  /** A line of the table; commands that do not work have lines of their own. */
  private final class Group {

    private final String name;
    private final List<String> fine = new ArrayList<>();
    private final long start = System.nanoTime();
    private boolean failed;

    Group(String name) {
      this.name = name;
    }

    void tries(String command, @Nullable String answer, Try call) throws InterruptedException {
      table.requireGoing();
      if (command.equals(command.toUpperCase(Locale.ROOT))) {
        called.add(command.replace(' ', '|'));
      }
      try {
        String found = call.get();
        if (answer == null || answer.equals(found)) {
          fine.add(command);
          return;
        }
        fail(command, "answered '" + found + "'; Redis 6.2 answers '" + answer + "'");
      } catch (JedisException e) {
        table.requireGoing();
        fail(command, reason(e) + remedy(command, e));
      }
    }

    private void fail(String command, String detail) {
      failed = true;
      table.add(Result.FAIL, command, detail);
    }

    boolean failed() {
      return failed;
    }

    void end() {
      if (!fine.isEmpty()) {
        table.add(Result.OK, name, String.join(", ", fine) + time(start));
      }
    }
  }

  static String time(long start) {
    return " (" + Math.max(1, (System.nanoTime() - start) / 1_000_000) + " ms)";
  }

  /** Why a call failed, in the server's words. */
  static String reason(Throwable e) {
    return String.valueOf(NestedExceptionUtils.getMostSpecificCause(e).getMessage());
  }

  /** Whether the user may not make the call, or use the key. */
  static boolean isRefusal(Throwable e) {
    return reason(e).matches("(?is).*(NOPERM|no permissions|can't (run|access)).*");
  }

  private String remedy(String command, Throwable e) {
    String reason = reason(e);
    if (isRefusal(e) && command.equals(command.toUpperCase(Locale.ROOT))) {
      String channels = command.matches(".*SUBSCRIBE|PUBLISH") ? " &PREFIX:*" : "";
      return ". Allow it: ACL SETUSER "
          + (user.isEmpty() ? "default" : user)
          + " +"
          + command.toLowerCase(Locale.ROOT).replace(' ', '|')
          + " ~PREFIX:*"
          + channels
          + " (PREFIX is punctual.key-prefix)";
    }
    if (reason.matches("(?is).*unknown.*command.*")) {
      return ". The server does not offer this command, so Punctual cannot use the server";
    }
    return "";
  }

  private String send(Command command, String... words) {
    CommandArguments arguments = new ClusterCommandArguments(command);
    for (String word : words) {
      // A cluster's client finds the node by the keys.
      arguments = keys.contains(word) ? arguments.key(word) : arguments.add(word);
    }
    return text(server.executeCommand(arguments));
  }

  private String eval(Command command, String script) {
    return send(command, script, "3", keys.get(0), keys.get(1), keys.get(2));
  }

  private static String text(@Nullable Object answer) {
    return answer instanceof byte[] bytes
        ? new String(bytes, StandardCharsets.UTF_8)
        : String.valueOf(answer);
  }

  /** A subscription, which its own thread reads. */
  private final class Listening extends BinaryJedisPubSub implements AutoCloseable {

    private static final long PATIENCE_MS = 3_000;

    private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
    private final Thread thread;
    private boolean open;

    Listening() {
      thread =
          Thread.ofPlatform()
              .daemon()
              .name("check-redis-listener")
              .start(
                  () -> {
                    try {
                      server.subscribe(this, channel.getBytes(StandardCharsets.UTF_8));
                    } catch (RuntimeException e) {
                      events.add(e);
                    }
                  });
    }

    private String next(String expected) throws InterruptedException {
      Object event = events.poll(PATIENCE_MS, TimeUnit.MILLISECONDS);
      if (event instanceof JedisException e) {
        throw e;
      }
      if (event == null) {
        throw new JedisDataException("no " + expected + " within " + PATIENCE_MS + " ms");
      }
      return String.valueOf(event);
    }

    String begun() throws InterruptedException {
      String begun = next("answer");
      open = true;
      return begun;
    }

    String message() throws InterruptedException {
      return next("message");
    }

    String ended() throws InterruptedException {
      open = false;
      unsubscribe();
      return next("answer");
    }

    @Override
    public void onSubscribe(byte[] subscribed, int channels) {
      events.add("subscribed");
    }

    @Override
    public void onUnsubscribe(byte[] unsubscribed, int channels) {
      events.add("unsubscribed");
    }

    @Override
    public void onMessage(byte[] from, byte[] message) {
      events.add(new String(message, StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
      if (open) {
        try {
          unsubscribe();
        } catch (JedisConnectionException e) {
          // The connection is gone, and the subscription with it.
          thread.interrupt();
        }
      }
    }
  }
}
