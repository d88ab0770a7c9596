package io.punctual.test.redis;

import io.punctual.redis.Ports;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/** Three primaries that share the slots, on loopback. */
public final class RedisCluster implements AutoCloseable {

  private static final int NODES = 3;
  private static final int SLOTS = 16_384;

  private final List<RedisServer> nodes = new ArrayList<>();

  private RedisCluster() {}

  /** Starts the nodes, joins them, and waits until all of them take commands. */
  public static RedisCluster start() {
    RedisCluster cluster = new RedisCluster();
    try {
      for (int i = 0; i < NODES; i++) {
        cluster.nodes.add(
            RedisServer.start(
                Ports.freeForCluster(),
                Files.createTempDirectory("punctual-cluster"),
                "--cluster-enabled",
                "yes",
                "--cluster-node-timeout",
                "2000",
                "--appendonly",
                "yes"));
      }
      cluster.join();
      return cluster;
    } catch (IOException e) {
      cluster.close();
      throw new UncheckedIOException(e);
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private void join() throws IOException {
    for (int i = 0; i < NODES; i++) {
      List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
      for (int slot = SLOTS * i / NODES; slot < SLOTS * (i + 1) / NODES; slot++) {
        command.add(Integer.toString(slot));
      }
      Resp.call(nodes.get(i).port(), command.toArray(String[]::new));
      Resp.call(nodes.get(i).port(), "CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
    }
    for (RedisServer node : nodes.subList(1, NODES)) {
      Resp.call(node.port(), "CLUSTER", "MEET", "127.0.0.1", Integer.toString(nodes.get(0).port()));
    }
    for (RedisServer node : nodes) {
      Await.until(
          "cluster node is ready",
          () -> {
            String info = Resp.call(node.port(), "CLUSTER", "INFO");
            return info.contains("cluster_state:ok")
                && info.contains("cluster_known_nodes:" + NODES)
                && info.contains("cluster_slots_ok:" + SLOTS);
          });
    }
  }

  /** The nodes' ports on 127.0.0.1. */
  public List<Integer> ports() {
    return nodes.stream().map(RedisServer::port).toList();
  }

  @Override
  public void close() {
    nodes.forEach(RedisServer::close);
  }
}
