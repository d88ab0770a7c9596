package io.punctual.core.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
  private static final int ENTRIES = 50;
  static final byte[] ID = Keys.bytes("id");
  static final byte[] SEQUENCE = Keys.bytes("sequence");
  private static final byte[] LOOKED = Keys.bytes("looked");

  private final RedisConnectionFactory connections;
  private final Keys keys;
  private final StoreCalls calls;
  private final NodeMarks nodeMarks;

  RedisEpochMarker(RedisConnectionFactory connections, Keys keys, StoreCalls calls) {
    this.connections = connections;
    this.keys = keys;
    this.calls = calls;
    this.nodeMarks = new NodeMarks(keys);
  }

  private <T> T call(String what, Function<RedisConnection, T> call) {
    return new RedisCalls(connections, calls, CALL).make(what, call);
  }

  @Override
  public List<Epoch> advance() {
    return call(
        "move the marks on",
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
    hashes.hSet(key, LOOKED, Keys.bytes(Long.toString(now)));
    return epoch("", NodeMarks.node(connection, key), now, id, sequence, looked);
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
  public void report(String key, StoreLoss loss) {
    var unused =
        call(
            "keep what was lost",
            connection -> {
              RedisHashCommands hashes = connection.hashCommands();
              Map<String, Instant> there = new HashMap<>();
              losses(hashes).forEach((other, known) -> there.put(other, known.at()));
              return !isThere(there, key, loss.at())
                  && Boolean.TRUE.equals(
                      hashes.hSetNX(
                          keys.losses(),
                          Keys.bytes(key),
                          Keys.bytes(loss.at().toEpochMilli() + " " + loss.text())));
            });
  }

  /** Whether another engine noticed the same. */
  private static boolean isThere(Map<String, Instant> there, String key, Instant noticedAt) {
    return there.containsKey(key)
        || (key.startsWith(OLDER)
            && there.entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(key.substring(0, key.lastIndexOf(' '))))
                .anyMatch(
                    entry ->
                        Duration.between(entry.getValue(), noticedAt).abs().compareTo(SAME) < 0));
  }

  @Override
  public List<StoreLoss> losses() {
    return call(
        "read what was lost",
        connection ->
            losses(connection.hashCommands()).values().stream()
                .sorted(Comparator.comparing(StoreLoss::at))
                .toList());
  }

  private Map<String, StoreLoss> losses(RedisHashCommands hashes) {
    Map<String, StoreLoss> losses = new HashMap<>();
    Objects.requireNonNull(hashes.hGetAll(keys.losses()))
        .forEach(
            (key, value) -> {
              String[] part = new String(value, StandardCharsets.UTF_8).split(" ", 2);
              losses.put(
                  new String(key, StandardCharsets.UTF_8),
                  new StoreLoss(Instant.ofEpochMilli(Long.parseLong(part[0])), part[1]));
            });
    return losses;
  }

  @Override
  public void record(String key, LossEntry.Kind kind, long noticedAt, long asOf) {
    var unused =
        call(
            "keep an entry of the journal of losses",
            connection -> {
              RedisHashCommands hashes = connection.hashCommands();
              Map<String, LossEntry> there = entries(hashes);
              Map<String, Instant> noticed = new HashMap<>();
              there.forEach((other, entry) -> noticed.put(other, entry.noticedAt()));
              if (isThere(noticed, key, Instant.ofEpochMilli(noticedAt))) {
                return 0L;
              }
              long newest = there.values().stream().mapToLong(LossEntry::sequence).max().orElse(0);
              long sequence = Math.max(noticedAt, newest + 1);
              hashes.hSetNX(
                  keys.journal(),
                  Keys.bytes(key),
                  Keys.bytes(sequence + " " + kind + " " + noticedAt + " " + asOf));
              there.entrySet().stream()
                  .sorted(Comparator.comparingLong(entry -> -entry.getValue().sequence()))
                  .skip(ENTRIES)
                  .forEach(entry -> hashes.hDel(keys.journal(), Keys.bytes(entry.getKey())));
              return sequence;
            });
  }

  @Override
  public List<LossEntry> journal() {
    return call(
        "read the journal of losses",
        connection ->
            entries(connection.hashCommands()).values().stream()
                .sorted(Comparator.comparingLong(LossEntry::sequence))
                .toList());
  }

  private Map<String, LossEntry> entries(RedisHashCommands hashes) {
    Map<String, LossEntry> entries = new HashMap<>();
    Objects.requireNonNull(hashes.hGetAll(keys.journal()))
        .forEach(
            (key, value) -> {
              String[] part = new String(value, StandardCharsets.UTF_8).split(" ", 4);
              long asOf = Long.parseLong(part[3]);
              entries.put(
                  new String(key, StandardCharsets.UTF_8),
                  new LossEntry(
                      Long.parseLong(part[0]),
                      LossEntry.Kind.valueOf(part[1]),
                      Instant.ofEpochMilli(Long.parseLong(part[2])),
                      asOf == 0 ? null : Instant.ofEpochMilli(asOf)));
            });
    return entries;
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
