package io.punctual.core.store;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisHashCommands;

/** A hash of three fields; in a cluster it is on one of the masters. */
final class RedisEpochMarker implements EpochMarker {

  private static final int ENTRIES = 50;
  private static final byte[] ID = Keys.bytes("id");
  private static final byte[] SEQUENCE = Keys.bytes("sequence");
  private static final byte[] LOOKED = Keys.bytes("looked");

  private final RedisConnectionFactory connections;
  private final Keys keys;

  RedisEpochMarker(RedisConnectionFactory connections, Keys keys) {
    this.connections = connections;
    this.keys = keys;
  }

  @Override
  public Epoch advance() {
    return StoreErrors.translated(
        "move the mark on",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            RedisHashCommands hashes = connection.hashCommands();
            byte[] key = keys.epoch();
            long now = Objects.requireNonNull(connection.serverCommands().time());
            byte[] id = hashes.hGet(key, ID);
            if (id == null) {
              hashes.hSetNX(key, ID, Keys.bytes(UUID.randomUUID() + " " + now));
              id = Objects.requireNonNull(hashes.hGet(key, ID), "the mark vanished again");
            }
            Long sequence = hashes.hIncrBy(key, SEQUENCE, 1);
            byte[] looked = hashes.hGet(key, LOOKED);
            hashes.hSet(key, LOOKED, Keys.bytes(Long.toString(now)));
            String[] made = new String(id, StandardCharsets.UTF_8).split(" ", 2);
            return new Epoch(
                now,
                made.length < 2 ? 0 : Long.parseLong(made[1]),
                made[0],
                Objects.requireNonNull(sequence),
                looked == null ? 0 : Long.parseLong(new String(looked, StandardCharsets.UTF_8)));
          }
        });
  }

  @Override
  public void report(String key, StoreLoss loss) {
    StoreErrors.translated(
        "keep what was lost",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            return connection
                .hashCommands()
                .hSetNX(
                    keys.losses(),
                    Keys.bytes(key),
                    Keys.bytes(loss.at().toEpochMilli() + " " + loss.text()));
          }
        });
  }

  @Override
  public List<StoreLoss> losses() {
    return StoreErrors.translated(
        "read what was lost",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            return Objects.requireNonNull(connection.hashCommands().hGetAll(keys.losses()))
                .values()
                .stream()
                .map(value -> new String(value, StandardCharsets.UTF_8).split(" ", 2))
                .map(part -> new StoreLoss(Instant.ofEpochMilli(Long.parseLong(part[0])), part[1]))
                .sorted(Comparator.comparing(StoreLoss::at))
                .toList();
          }
        });
  }

  @Override
  public void record(String key, LossEntry.Kind kind, long noticedAt, long asOf) {
    StoreErrors.translated(
        "keep an entry of the journal of losses",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            RedisHashCommands hashes = connection.hashCommands();
            Map<String, LossEntry> there = entries(hashes);
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
          }
        });
  }

  @Override
  public List<LossEntry> journal() {
    return StoreErrors.translated(
        "read the journal of losses",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            return entries(connection.hashCommands()).values().stream()
                .sorted(Comparator.comparingLong(LossEntry::sequence))
                .toList();
          }
        });
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
    StoreErrors.translated(
        "forget what was lost",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            RedisHashCommands hashes = connection.hashCommands();
            Set<byte[]> all = Objects.requireNonNull(hashes.hGetAll(keys.losses())).keySet();
            return all.isEmpty()
                ? Long.valueOf(0)
                : hashes.hDel(keys.losses(), all.toArray(new byte[0][]));
          }
        });
  }
}
