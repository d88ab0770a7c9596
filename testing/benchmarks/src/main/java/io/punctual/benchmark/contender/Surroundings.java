package io.punctual.benchmark.contender;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import redis.clients.jedis.Jedis;

/**
 * What a contender finds around it.
 *
 * @param redisPort a Redis of its own
 * @param registry base address of a registry, or empty
 * @param schedulers base addresses of schedulers, comma-separated, or of another server
 * @param storePort where another store listens, 0 for none
 * @param storePid the process whose memory is the store's
 */
public record Surroundings(
    int redisPort, String registry, String schedulers, int storePort, long storePid) {

  /** Reads what {@link #arguments} wrote. */
  public static Surroundings of(List<String> words) {
    return new Surroundings(
        Integer.parseInt(words.get(0)),
        words.get(1),
        words.get(2),
        Integer.parseInt(words.get(3)),
        Long.parseLong(words.get(4)));
  }

  /** For the command line of another process. */
  public List<String> arguments() {
    return List.of(
        Integer.toString(redisPort),
        registry,
        schedulers,
        Integer.toString(storePort),
        Long.toString(storePid));
  }

  /** Bytes that Redis uses. */
  public long redisMemory() {
    AtomicLong bytes = new AtomicLong();
    eachRedis(
        jedis ->
            bytes.addAndGet(
                jedis
                    .info("memory")
                    .lines()
                    .filter(line -> line.startsWith("used_memory:"))
                    .mapToLong(line -> Long.parseLong(line.substring(12).strip()))
                    .sum()));
    return bytes.get();
  }

  /** Empties Redis. */
  void flushRedis() {
    eachRedis(Jedis::flushAll);
  }

  /** Removes the jobs of all queues past the scheduler, which has none in its hands. */
  void removeQueues() {
    eachRedis(jedis -> jedis.keys("*{*}:*").forEach(jedis::del));
  }

  private void eachRedis(Consumer<Jedis> action) {
    try (Jedis first = new Jedis("127.0.0.1", redisPort)) {
      if (!first.info("server").contains("redis_mode:cluster")) {
        action.accept(first);
        return;
      }
      // <id> 127.0.0.1:<port>@<bus port> ...
      for (String node : first.clusterNodes().lines().toList()) {
        try (Jedis jedis = new Jedis("127.0.0.1", Integer.parseInt(node.split("[:@]", 3)[1]))) {
          action.accept(jedis);
        }
      }
    }
  }

  /** Bytes of the store's process that are in memory. */
  long storeResident() {
    try {
      long pages =
          Long.parseLong(
              Files.readString(Path.of("/proc/" + storePid + "/statm")).split(" ", -1)[1]);
      return pages * 4096;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
