package io.punctual.test.redis;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;

/** Makes servers replicas of others, on loopback. */
public final class RedisReplica {

  private RedisReplica() {}

  /** Starts a temporary replica, and waits until it is connected. */
  public static RedisServer of(RedisServer primary) {
    RedisServer replica =
        RedisServer.startTemporary("--replicaof", "127.0.0.1", Integer.toString(primary.port()));
    awaitLink(replica.port());
    return replica;
  }

  /**
   * Lets a server follow another one, and waits until it is connected.
   *
   * @param port where the other one is reached, on 127.0.0.1
   */
  public static void follow(RedisServer replica, int port) throws IOException {
    Resp.call(replica.port(), "REPLICAOF", "127.0.0.1", Integer.toString(port));
    awaitLink(replica.port());
  }

  /** Waits until a replica is connected to its primary. */
  static void awaitLink(int port) {
    Await.until(
        "the replica is connected",
        () -> Resp.call(port, "INFO", "replication").contains("master_link_status:up"));
  }
}
