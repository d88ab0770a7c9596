package io.punctual.core.store.redis;

import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.durability.Epoch;
import io.punctual.core.store.durability.EpochMarker;
import io.punctual.core.store.durability.LossEntry;
import io.punctual.core.store.durability.StoreLoss;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.RedisCalls;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisHashCommands;

/** A hash of three fields; in a cluster it is on one of the masters. */
final class RedisEpochMarker implements EpochMarker {

  private static final String CALL = "marks";
  private static final String KEEP = "losses/keep";
  private static final int ENTRIES = 50;
  static final byte[] ID = Keys.bytes("id");
  static final byte[] SEQUENCE = Keys.bytes("sequence");
  private static final byte[] LOOKED = Keys.bytes("looked");

  private final RedisConnectionFactory connections;
  private final ScriptRunner scripts;
  private final Keys keys;
  private final StoreCalls calls;
  private final NodeMarks nodeMarks;

  RedisEpochMarker(RedisConnectionFactory connections, ScriptRunner scripts, StoreCalls calls) {
    this.connections = connections;
    this.scripts = scripts;
    this.keys = scripts.keys();
    this.calls = calls;
    this.nodeMarks = new NodeMarks(keys);
  }

  private <T> T call(String what, Function<RedisConnection, T> call) {
    return new RedisCalls(connections, calls, CALL).make(what, call);
  }

  @Override
  public List<Epoch> advance() {
    return call(
        "check for losses",
        connection -> {
          List<Epoch> epochs = new ArrayList<>();
          Epoch own = advance(connection);
          epochs.add(own);
          if (connection instanceof RedisClusterConnection cluster) {
            epochs.addAll(nodeMarks.advance(cluster, own.now()));
          }
          return epochs;
        });
  }

  private Epoch advance(RedisConnection connection) {
    RedisHashCommands hashes = connection.hashCommands();
    byte[] key = keys.epoch("");
    byte[] id = hashes.hGet(key, ID);
    long now = NodeMarks.time(connection, key);
    if (id == null) {
      hashes.hSetNX(key, ID, newId(now));
      id = Objects.requireNonNull(hashes.hGet(key, ID), "the mark vanished again");
    }
    Long sequence = Objects.requireNonNull(hashes.hIncrBy(key, SEQUENCE, 1));
    byte[] looked = hashes.hGet(key, LOOKED);
    return epoch("", NodeMarks.node(connection, key), now, id, sequence, looked);
  }

  @Override
  public void recordLook() {
    var unused =
        call(
            "store the time of the last look at the marks",
            connection -> {
              byte[] key = keys.epoch("");
              String now = Long.toString(NodeMarks.time(connection, key));
              return connection.hashCommands().hSet(key, LOOKED, Keys.bytes(now));
            });
  }

  static byte[] newId(long now) {
    return Keys.bytes(UUID.randomUUID() + " " + now);
  }

  static Epoch epoch(
      String mark, String node, long now, byte[] id, long sequence, byte @Nullable [] looked) {
    String[] made = new String(id, StandardCharsets.UTF_8).split(" ", 2);
    return new Epoch(
        mark,
        node,
        now,
        made.length < 2 ? 0 : Long.parseLong(made[1]),
        made[0],
        sequence,
        looked == null ? 0 : Long.parseLong(new String(looked, StandardCharsets.UTF_8)));
  }

  @Override
  public Set<String> marks() {
    Set<String> marks = new HashSet<>(nodeMarks.chosen());
    marks.add("");
    return marks;
  }

  @Override
  public void report(String name, StoreLoss loss) {
    long at = loss.at().toEpochMilli();
    Arguments arguments = new Arguments().add(ENTRIES);
    add(arguments, name, at, at + " " + loss.text());
    keep("keep what was lost", keys.losses(), arguments);
  }

  @Override
  public List<StoreLoss> losses() {
    return entries(
        "read what was lost",
        keys.losses(),
        3,
        part -> new StoreLoss(Instant.ofEpochMilli(Long.parseLong(part[1])), part[2]));
  }

  @Override
  public void record(List<Notice> notices) {
    if (notices.isEmpty()) {
      return;
    }
    Arguments arguments = new Arguments().add(ENTRIES);
    for (Notice notice : notices) {
      add(
          arguments,
          notice.name(),
          notice.noticedAt(),
          notice.kind() + " " + notice.noticedAt() + " " + notice.asOf());
    }
    keep("add to the journal of losses", keys.journal(), arguments);
  }

  @Override
  public List<LossEntry> journal() {
    return entries(
        "read the journal of losses",
        keys.journal(),
        4,
        part -> {
          long asOf = Long.parseLong(part[3]);
          return new LossEntry(
              Long.parseLong(part[0]),
              LossEntry.Kind.valueOf(part[1]),
              Instant.ofEpochMilli(Long.parseLong(part[2])),
              asOf == 0 ? null : Instant.ofEpochMilli(asOf));
        });
  }

  private static void add(Arguments arguments, String name, long at, String entry) {
    var unused = arguments.add(name).add(at).add(within(name)).add(entry);
  }

  private void keep(String what, byte[] hash, Arguments arguments) {
    var unused = scripts.run(CALL, KEEP, what, hash, arguments);
  }

  private static long within(String name) {
    if (name.startsWith(OLDER)) {
      return SAME.toMillis();
    }
    return name.startsWith(RESTARTED) ? SAME_RESTART.toMillis() : Long.MAX_VALUE;
  }

  /** Reads entries, oldest first, each as its sequence and what follows. */
  private <T> List<T> entries(String what, byte[] hash, int parts, Function<String[], T> entry) {
    return call(
        what,
        connection ->
            Objects.requireNonNull(connection.hashCommands().hGetAll(hash)).values().stream()
                .map(value -> new String(value, StandardCharsets.UTF_8).split(" ", parts))
                .sorted(Comparator.comparingLong(part -> Long.parseLong(part[0])))
                .map(entry)
                .toList());
  }

  @Override
  public void acknowledge() {
    var unused =
        call(
            "forget what was lost",
            connection -> {
              RedisHashCommands hashes = connection.hashCommands();
              Set<byte[]> all = Objects.requireNonNull(hashes.hGetAll(keys.losses())).keySet();
              return all.isEmpty()
                  ? Long.valueOf(0)
                  : hashes.hDel(keys.losses(), all.toArray(new byte[0][]));
            });
  }
}
