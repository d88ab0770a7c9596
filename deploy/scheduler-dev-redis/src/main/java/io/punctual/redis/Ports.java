package io.punctual.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Free ports on loopback. They are below 32,768, where Linux's ports for outgoing connections
 * begin. No other process of this user draws them while this process runs. So a program that binds
 * its port seconds later, or again after a restart, finds it free.
 */
public final class Ports {

  private static final int FIRST = 10_240;
  private static final int EPHEMERAL = 32_768;
  private static final int TO_CLUSTER_BUS = 10_000;

  private static final Set<Integer> DRAWN = ConcurrentHashMap.newKeySet();

  /**
   * The process that draws a port locks the byte at that offset. The operating system releases the
   * locks when the process ends, even by a kill. Null if the file cannot be opened.
   */
  private static final @Nullable FileChannel LOCKS = locks();

  private Ports() {}

  private static @Nullable FileChannel locks() {
    Path directory = Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
    try {
      return FileChannel.open(
          directory.resolve("punctual-ports-" + System.getProperty("user.name", "")),
          StandardOpenOption.CREATE,
          StandardOpenOption.WRITE,
          LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      return null;
    }
  }

  /** A port that no program listens on, and that is not drawn again while this process runs. */
  public static int free() {
    return draw(EPHEMERAL, Ports::isFree, 0);
  }

  /** A free port whose cluster bus port, 10,000 above, is free as well. */
  public static int freeForCluster() {
    return draw(
        EPHEMERAL - TO_CLUSTER_BUS,
        port -> isFree(port) && isFree(port + TO_CLUSTER_BUS),
        TO_CLUSTER_BUS);
  }

  private static int draw(int end, IntPredicate free, int toSecond) {
    return ThreadLocalRandom.current()
        .ints(1000, FIRST, end)
        // Reserved first: the look itself binds the port, which its program may be about to bind.
        .filter(port -> reserve(port) && (toSecond == 0 || reserve(port + toSecond)))
        .filter(free)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no free port was found on loopback"));
  }

  /**
   * Reserves the port until this process ends. Returns false if this or another running process has
   * reserved it.
   */
  private static boolean reserve(int port) {
    if (!DRAWN.add(port)) {
      return false;
    }
    try {
      return LOCKS == null || LOCKS.tryLock(port, 1, false) != null;
    } catch (OverlappingFileLockException e) {
      // Another class loader of this JVM has loaded this class and drawn the port.
      return false;
    } catch (IOException e) {
      // The file system has no locks: two processes may draw the same port.
      return true;
    }
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
