package io.punctual.test.redis;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A master, a replica and three sentinels that watch them, on loopback. */
public final class RedisSentinels implements AutoCloseable {

  /** The name of the watched master. */
  public static final String MASTER = "punctual";

  private static final String REPLICATOR = "replicator";
  private static final String WATCHER = "watcher";

  private final List<RedisServer> servers = new ArrayList<>();
  private final List<RedisServer> sentinels = new ArrayList<>();

  private RedisSentinels() {}

  /** Starts all of them; a master is down for the sentinels after a second without an answer. */
  public static RedisSentinels start() {
    return start(Duration.ofSeconds(1));
  }

  /**
   * Starts all of them and waits until the sentinels know the replica and each other.
   *
   * @param downAfter how long a master may be silent before the sentinels take it to be down
   */
  public static RedisSentinels start(Duration downAfter) {
    RedisSentinels setup = new RedisSentinels();
    try {
      setup.servers.add(server());
      setup.servers.add(server());
      int master = setup.firstMaster().port();
      RedisReplica.follow(setup.firstReplica(), master);
      for (int i = 0; i < 3; i++) {
        setup.sentinels.add(sentinel(master, downAfter));
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

  private static RedisServer server() {
    return RedisServer.startTemporary(
        "--masteruser",
        REPLICATOR,
        "--masterauth",
        REPLICATOR,
        "--user",
        WATCHER,
        "on",
        ">" + WATCHER,
        "+@all",
        "~*",
        "&*",
        "--user",
        REPLICATOR,
        "on",
        ">" + REPLICATOR,
        "+psync",
        "+replconf",
        "+ping");
  }

  private static RedisServer sentinel(int master, Duration downAfter) throws IOException {
    RedisServer sentinel =
        RedisServer.start(
            io.punctual.redis.Ports.free(),
            java.nio.file.Files.createTempDirectory("punctual-sentinel"),
            "--sentinel");
    Resp.call(
        sentinel.port(), "SENTINEL", "MONITOR", MASTER, "127.0.0.1", Integer.toString(master), "2");
    Resp.call(sentinel.port(), "SENTINEL", "SET", MASTER, "auth-user", WATCHER);
    Resp.call(sentinel.port(), "SENTINEL", "SET", MASTER, "auth-pass", WATCHER);
    String silence = Long.toString(downAfter.toMillis());
    Resp.call(sentinel.port(), "SENTINEL", "SET", MASTER, "down-after-milliseconds", silence);
    Resp.call(sentinel.port(), "SENTINEL", "SET", MASTER, "failover-timeout", "3000");
    return sentinel;
  }

  /** The sentinels' hosts and ports. */
  public List<String> addresses() {
    return sentinels.stream().map(sentinel -> "127.0.0.1:" + sentinel.port()).toList();
  }

  /** The server that was started as the master. */
  public RedisServer firstMaster() {
    return servers.get(0);
  }

  /** The server that was started as its replica. */
  public RedisServer firstReplica() {
    return servers.get(1);
  }

  /** The port of the server that is the master for the sentinels now. */
  public int master() throws IOException {
    String[] address =
        Resp.call(sentinels.get(0).port(), "SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER)
            .split("\n", -1);
    return Integer.parseInt(address[1]);
  }

  /** Lets the master go on alone: its replicas may not listen to it any more. */
  public void isolateReplicas() throws IOException {
    Resp.call(firstMaster().port(), "ACL", "SETUSER", REPLICATOR, "off");
    Resp.call(firstMaster().port(), "CLIENT", "KILL", "TYPE", "replica");
  }

  /**
   * Lets the master answer the sentinels no more, while it goes on serving all others. Together
   * with {@link #isolateReplicas}: it is on the far side of a cut network.
   */
  public void isolateMaster() throws IOException {
    Resp.call(firstMaster().port(), "ACL", "SETUSER", WATCHER, "-@all");
  }

  /** Repairs the network: the sentinels reach the first master again, and make it a replica. */
  public void rejoinMaster() throws IOException {
    Resp.call(firstMaster().port(), "ACL", "SETUSER", WATCHER, "+@all");
  }

  /**
   * Lets the sentinels promote the other server, whether or not they take the master to be down,
   * and waits until they have.
   */
  public void failOver() throws IOException {
    int old = master();
    Await.until(
        "the sentinels promote the replica",
        () -> {
          if (master() != old) {
            return true;
          }
          // Refused while it is under way, and until they know the replica well enough.
          var unused = Resp.call(sentinels.get(0).port(), "SENTINEL", "FAILOVER", MASTER);
          return false;
        });
  }

  /** Starts the first master again, and waits until it is a replica of the present one. */
  public void restoreMaster() throws IOException {
    firstMaster().start();
    int master = master();
    RedisReplica.follow(firstMaster(), master);
    Await.until(
        "the first master is in step",
        () -> Resp.call(master, "INFO", "replication").contains("state=online"));
  }

  @Override
  public void close() {
    sentinels.forEach(RedisServer::close);
    servers.forEach(RedisServer::close);
  }
}
