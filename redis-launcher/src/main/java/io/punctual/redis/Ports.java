package io.punctual.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntPredicate;

/**
 * Free ports on loopback. They are drawn below 32,768, from where on Linux takes the local ports of
 * outgoing connections: a program that binds its port seconds later still finds it free.
 */
public final class Ports {

  private static final int FIRST = 10_240;
  private static final int EPHEMERAL = 32_768;
  private static final int TO_CLUSTER_BUS = 10_000;

  private Ports() {}

  /** A port that nobody listens on now. */
  public static int free() {
    return draw(EPHEMERAL, Ports::isFree);
  }

  /** A free port whose cluster bus port, 10,000 above, is free as well. */
  public static int freeForCluster() {
    return draw(EPHEMERAL - TO_CLUSTER_BUS, port -> isFree(port) && isFree(port + TO_CLUSTER_BUS));
  }

  private static int draw(int end, IntPredicate free) {
    return ThreadLocalRandom.current()
        .ints(1000, FIRST, end)
        .filter(free)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no free port was found on loopback"));
  }

  /** Whether nobody listens on the port. */
  public static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }
}
