package io.punctual.test.redis;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** A master, a replica and three sentinels that watch them, on loopback. */
public final class RedisSentinels implements AutoCloseable {

  /** The name of the watched master. */
  public static final String MASTER = "punctual";

  private final List<RedisServer> servers = new ArrayList<>();
  private final List<RedisServer> sentinels = new ArrayList<>();

  private RedisSentinels() {}

  /** Starts all of them and waits until the sentinels know the replica and each other. */
  public static RedisSentinels start() {
    RedisSentinels setup = new RedisSentinels();
    try {
      RedisServer master = RedisServer.startTemporary();
      setup.servers.add(master);
      setup.servers.add(
          RedisServer.startTemporary("--replicaof", "127.0.0.1", Integer.toString(master.port())));
      for (int i = 0; i < 3; i++) {
        setup.sentinels.add(sentinel(master.port()));
      }
      for (RedisServer sentinel : setup.sentinels) {
        Await.until(
            "sentinel sees replica and other sentinels",
            () -> {
              String state = Resp.call(sentinel.port(), "SENTINEL", "MASTER", MASTER);
              return state.contains("num-slaves\n1\n")
                  && state.contains("num-other-sentinels\n2\n");
            });
      }
      return setup;
    } catch (IOException e) {
      setup.close();
      throw new UncheckedIOException(e);
    } catch (RuntimeException e) {
      setup.close();
      throw e;
    }
  }

  private static RedisServer sentinel(int master) throws IOException {
    RedisServer sentinel =
        RedisServer.start(
            io.punctual.redis.Ports.free(),
            java.nio.file.Files.createTempDirectory("punctual-sentinel"),
            "--sentinel");
    Resp.call(
        sentinel.port(), "SENTINEL", "MONITOR", MASTER, "127.0.0.1", Integer.toString(master), "2");
    Resp.call(sentinel.port(), "SENTINEL", "SET", MASTER, "down-after-milliseconds", "1000");
    Resp.call(sentinel.port(), "SENTINEL", "SET", MASTER, "failover-timeout", "3000");
    return sentinel;
  }

  /** The sentinels' ports on 127.0.0.1. */
  public List<Integer> ports() {
    return sentinels.stream().map(RedisServer::port).toList();
  }

  /** The server that was started as the master. */
  public RedisServer firstMaster() {
    return servers.get(0);
  }

  @Override
  public void close() {
    sentinels.forEach(RedisServer::close);
    servers.forEach(RedisServer::close);
  }
}
