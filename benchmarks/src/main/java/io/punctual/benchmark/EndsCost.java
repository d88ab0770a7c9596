package io.punctual.benchmark;

import io.punctual.core.store.JobStore;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.systemtest.Waiting;
import java.util.List;

/**
 * K: what it costs that ends of attempts wait for a replica on the same machine, in turns with ends
 * that do not. Up to 200 ends share a wait.
 */
final class EndsCost {

  private final Machine machine;
  private final Options options;
  private final Figures figures;

  EndsCost(Machine machine, Options options, Figures figures) {
    this.machine = machine;
    this.options = options;
    this.figures = figures;
  }

  void run() throws Exception {
    System.out.println("punctual: claim and ack, ends confirmed by a replica or not");
    try (RedisServer redis = machine.redis();
        RedisServer replica =
            RedisServer.startTemporary("--replicaof", "127.0.0.1", "" + redis.port());
        StoreConnections connections = new StoreConnections(redis.port())) {
      Waiting.until(
          "the replica is connected",
          () -> Resp.call(replica.port(), "INFO", "replication").contains("link_status:up"));
      PendingCost cost = new PendingCost(machine, options, figures);
      List<JobStore> stores =
          List.of(connections.store(false).jobs(), connections.store(true).jobs());
      int warmUp = options.scaled(30);
      double[][] claims = new double[2][options.scale().repetitions()];
      for (int round = 0; round < warmUp + claims[0].length; round++) {
        for (int i = 0; i < 2; i++) {
          double[] micros = new double[2];
          cost.measure(stores.get(i), "r" + round + "-" + i, micros);
          if (round >= warmUp) {
            claims[i][round - warmUp] = micros[1];
          }
        }
      }
      figures.add(new Figure("K", "punctual", "claim and ack, us/job", claims[0], ""));
      figures.add(
          new Figure("K", "punctual", "claim and ack, us/job, ends confirmed", claims[1], ""));
    }
  }
}
