package io.punctual.test.redis;

import io.punctual.redis.Ports;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/** Three primaries that share the slots, each with a replica if wanted, on loopback. */
public final class RedisCluster implements AutoCloseable {

  private static final int PRIMARIES = 3;
  private static final int SLOTS = 16_384;

  private final List<RedisServer> nodes = new ArrayList<>();

  private RedisCluster() {}

  /** Starts three primaries, joins them, and waits until all of them take commands. */
  public static RedisCluster start() {
    return start(PRIMARIES);
  }

  /** As {@link #start()}, and a replica for each of them. */
  public static RedisCluster startWithReplicas() {
    return start(2 * PRIMARIES);
  }

  private static RedisCluster start(int count) {
    RedisCluster cluster = new RedisCluster();
    try {
      for (int i = 0; i < count; i++) {
        cluster.nodes.add(
            RedisServer.start(
                Ports.freeForCluster(),
                Files.createTempDirectory("punctual-cluster"),
                "--cluster-enabled",
                "yes",
                "--cluster-node-timeout",
                // A node that stalls for less than this keeps its slots.
                Integer.toString(count > PRIMARIES ? 5_000 : 2_000),
                "--appendonly",
                "yes",
                // As all temporary servers: no test waits for the disk.
                "--appendfsync",
                "no"));
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
    for (int i = 0; i < PRIMARIES; i++) {
      List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
      for (int slot = SLOTS * i / PRIMARIES; slot < SLOTS * (i + 1) / PRIMARIES; slot++) {
        command.add(Integer.toString(slot));
      }
      Resp.call(nodes.get(i).port(), command.toArray(String[]::new));
      Resp.call(nodes.get(i).port(), "CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
    }
    for (RedisServer node : nodes.subList(1, nodes.size())) {
      Resp.call(node.port(), "CLUSTER", "MEET", "127.0.0.1", Integer.toString(nodes.get(0).port()));
    }
    for (RedisServer node : nodes) {
      Await.until(
          "cluster node is ready",
          () -> {
            String info = Resp.call(node.port(), "CLUSTER", "INFO");
            return info.contains("cluster_state:ok")
                && info.contains("cluster_known_nodes:" + nodes.size())
                && info.contains("cluster_slots_ok:" + SLOTS);
          });
    }
    for (int i = PRIMARIES; i < nodes.size(); i++) {
      int port = nodes.get(i).port();
      Resp.call(port, "CLUSTER", "REPLICATE", idOf(nodes.get(i - PRIMARIES).port()));
      RedisReplica.awaitLink(port);
    }
  }

  private static String idOf(int port) throws IOException {
    return Resp.call(port, "CLUSTER", "MYID");
  }

  /** The node that serves a key now, asked of those that live. */
  public RedisServer ownerOf(String key) throws IOException {
    for (RedisServer asked : nodes.stream().filter(RedisServer::isRunning).toList()) {
      int slot = Integer.parseInt(Resp.call(asked.port(), "CLUSTER", "KEYSLOT", key));
      for (String line : Resp.call(asked.port(), "CLUSTER", "NODES").lines().toList()) {
        if (serves(line.split(" ", -1), slot)) {
          int port = Integer.parseInt(line.replaceAll("^\\S+ [^:]*:(\\d+).*$", "$1"));
          return nodes.stream().filter(node -> node.port() == port).findFirst().orElseThrow();
        }
      }
    }
    throw new IOException("no node serves " + key);
  }

  private static boolean serves(String[] fields, int slot) {
    if (!fields[2].contains("master") || fields[2].contains("fail")) {
      return false;
    }
    // Eight fields about the node come first, and behind the slots those that are on the move.
    return java.util.Arrays.stream(fields)
        .skip(8)
        .filter(range -> !range.startsWith("["))
        .map(range -> range.split("-", -1))
        .anyMatch(
            ends ->
                Integer.parseInt(ends[0]) <= slot
                    && slot <= Integer.parseInt(ends[ends.length - 1]));
  }

  /** Moves the slot of a key with all that is in it to another primary, key by key. */
  public void move(String key) throws IOException {
    RedisServer from = ownerOf(key);
    RedisServer to =
        nodes.subList(0, PRIMARIES).stream()
            .filter(node -> node != from && node.isRunning())
            .findFirst()
            .orElseThrow();
    String slot = Resp.call(from.port(), "CLUSTER", "KEYSLOT", key);
    Resp.call(to.port(), "CLUSTER", "SETSLOT", slot, "IMPORTING", idOf(from.port()));
    Resp.call(from.port(), "CLUSTER", "SETSLOT", slot, "MIGRATING", idOf(to.port()));
    String keys = Resp.call(from.port(), "CLUSTER", "GETKEYSINSLOT", slot, "100");
    while (!keys.isEmpty()) {
      for (String moved : keys.split("\n", -1)) {
        Resp.call(
            from.port(), "MIGRATE", "127.0.0.1", Integer.toString(to.port()), moved, "0", "5000");
      }
      keys = Resp.call(from.port(), "CLUSTER", "GETKEYSINSLOT", slot, "100");
    }
    String owner = idOf(to.port());
    for (RedisServer node : List.of(to, from)) {
      Resp.call(node.port(), "CLUSTER", "SETSLOT", slot, "NODE", owner);
    }
  }

  /** The nodes' ports on 127.0.0.1. */
  public List<Integer> ports() {
    return nodes.stream().map(RedisServer::port).toList();
  }

  /** The nodes' hosts and ports. */
  public List<String> addresses() {
    return ports().stream().map(port -> "127.0.0.1:" + port).toList();
  }

  @Override
  public void close() {
    nodes.forEach(RedisServer::close);
  }
}
