package io.punctual.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Free ports on loopback. */
public final class Ports {

  private Ports() {}

  /** A port that nobody listens on now. */
  public static int free() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A free port below 50,000, whose cluster bus port, 10,000 above, is free as well. */
  public static int freeForCluster() {
    for (int i = 0; i < 1000; i++) {
      int port = 20_000 + (int) (Math.random() * 20_000);
      if (isFree(port) && isFree(port + 10_000)) {
        return port;
      }
    }
    throw new IllegalStateException("no pair of free ports was found on loopback");
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
