package io.punctual.systemtest;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A way from one process to another on 127.0.0.1 that can be slow, deaf, dead or cut. */
public final class FaultyLink implements AutoCloseable {

  private static final int BUFFER = 64 * 1024;
  private static final long SLOW_NANOS = 100_000_000;
  private static final int CONNECT_MS = 1_000;

  /** What becomes of the bytes. */
  public enum Mode {
    /** They arrive. */
    SOUND,
    /** They arrive, a tenth of a second later. */
    SLOW,
    /** Nothing arrives, and nobody is told: a cable without a plug. */
    HALF_OPEN,
    /** Requests arrive, answers do not: the work is done and nobody hears of it. */
    DEAF,
    /** Connections are reset and refused. */
    CUT
  }

  /** Where something happens, seen from one request. */
  public enum Point {
    /** It was sent and does not arrive. */
    BEFORE,
    /** It was carried out, and its answer does not arrive. */
    BETWEEN,
    /** Its answer has arrived. */
    BEHIND
  }

  private record Tripwire(byte[] marker, Point point, Runnable action) {

    boolean isIn(byte[] buffer, int length) {
      for (int i = 0; i + marker.length <= length; i++) {
        if (Arrays.equals(buffer, i, i + marker.length, marker, 0, marker.length)) {
          return true;
        }
      }
      return false;
    }
  }

  private final AtomicReference<@Nullable Tripwire> tripwire = new AtomicReference<>();
  private final ServerSocket server;
  private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
  private volatile int target;
  private volatile Mode mode = Mode.SOUND;

  /** Opens a way; it leads nowhere before {@link #to}. */
  public FaultyLink() {
    try {
      server = new ServerSocket(0, 500, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().name("link-" + port()).start(this::accept);
  }

  /** Leads to a port of 127.0.0.1 from now on. */
  public FaultyLink to(int port) {
    target = port;
    return this;
  }

  /** Where it is entered, on 127.0.0.1. */
  public int port() {
    return server.getLocalPort();
  }

  /**
   * Changes what becomes of the bytes. What a connection held back is never delivered: it is reset
   * when the link becomes another.
   */
  public void become(Mode next) {
    Mode before = mode;
    mode = next;
    if (next == Mode.CUT || before == Mode.HALF_OPEN || before == Mode.DEAF) {
      connections.forEach(Connection::close);
    }
    connections.forEach(Connection::wake);
  }

  /**
   * Does something once, at a point of the first request that holds the marker.
   *
   * @param marker as it stands in the bytes
   */
  public void once(String marker, Point point, Runnable action) {
    tripwire.set(new Tripwire(marker.getBytes(StandardCharsets.US_ASCII), point, action));
  }

  /** Whether the last {@link #once} has happened. */
  public boolean happened() {
    return tripwire.get() == null;
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        if (mode == Mode.CUT) {
          reset(client);
        } else {
          new Connection(client).open();
        }
      } catch (IOException e) {
        if (!server.isClosed()) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      // It was closed before.
      return;
    }
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    connections.forEach(Connection::close);
  }

  private final class Connection implements Closeable {

    private final Socket client;
    private final Socket there = new Socket();
    private final Set<Thread> pumps = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;
    // Of the request that is under way: a connection to Redis has one at a time.
    private volatile @Nullable Tripwire touched;

    Connection(Socket client) {
      this.client = client;
    }

    void open() {
      connections.add(this);
      pump(client, there, Mode.HALF_OPEN, Mode.HALF_OPEN);
    }

    private void pump(Socket from, Socket to, Mode held, Mode alsoHeld) {
      Thread.ofVirtual().start(() -> run(from, to, held, alsoHeld));
    }

    private void run(Socket from, Socket to, Mode held, Mode alsoHeld) {
      pumps.add(Thread.currentThread());
      try {
        if (!there.isConnected()) {
          there.connect(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), target), CONNECT_MS);
          pump(there, client, Mode.HALF_OPEN, Mode.DEAF);
        }
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        byte[] buffer = new byte[BUFFER];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          while (!closed && (mode == held || mode == alsoHeld)) {
            LockSupport.park(this);
          }
          if (mode == Mode.SLOW) {
            LockSupport.parkNanos(SLOW_NANOS);
          }
          if (closed) {
            return;
          }
          if (!pass(from == client, buffer, n, out)) {
            close();
            return;
          }
        }
        to.shutdownOutput();
        if (from.isOutputShutdown()) {
          close();
        }
      } catch (IOException e) {
        close();
      } finally {
        pumps.remove(Thread.currentThread());
      }
    }

    /** Answers whether the bytes went on. */
    private boolean pass(boolean request, byte[] buffer, int length, OutputStream out)
        throws IOException {
      Tripwire wire = request ? tripwire.get() : touched;
      boolean touches = wire != null && (!request || wire.isIn(buffer, length));
      if (!touches || wire == null) {
        write(buffer, length, out);
        return true;
      }
      boolean here = wire.point() == (request ? Point.BEFORE : Point.BETWEEN);
      if (here) {
        wire.action().run();
        tripwire.compareAndSet(wire, null);
        return false;
      }
      if (request) {
        // The answer may be quick.
        touched = wire;
        write(buffer, length, out);
      } else {
        touched = null;
        write(buffer, length, out);
        wire.action().run();
        tripwire.compareAndSet(wire, null);
      }
      return true;
    }

    private void write(byte[] buffer, int length, OutputStream out) throws IOException {
      out.write(buffer, 0, length);
      out.flush();
    }

    void wake() {
      pumps.forEach(LockSupport::unpark);
    }

    @Override
    public void close() {
      closed = true;
      connections.remove(this);
      reset(client);
      reset(there);
      wake();
    }
  }
}
