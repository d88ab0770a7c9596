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
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
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
    /** Of each answer the head arrives, and half of what came with it; then nothing. */
    STALLED,
    /** Connections are reset and refused. */
    CUT
  }

  /** What a {@link Trap} holds back. */
  public enum Side {
    /** The request: it was sent and does not arrive. */
    REQUEST,
    /** Its answer: it was carried out, and nobody hears of it. */
    ANSWER
  }

  /** Holds back one request, or the answer to it: the first that has all the marks in its bytes. */
  public static final class Trap {

    private enum State {
      SET,
      HOLDS,
      LETS_GO,
      CUTS
    }

    private final Side side;
    private final List<byte[]> request;
    private final byte[] answer;
    private final AtomicReference<State> state = new AtomicReference<>(State.SET);
    private final CountDownLatch passed = new CountDownLatch(1);
    private volatile @Nullable Thread holding;

    private Trap(Side side, List<String> request, String answer) {
      this.side = side;
      this.request = request.stream().map(Trap::bytes).toList();
      this.answer = bytes(answer);
    }

    private static byte[] bytes(String mark) {
      return mark.getBytes(StandardCharsets.US_ASCII);
    }

    /** Whether it holds something, or has. */
    public boolean sprung() {
      return state.get() != State.SET;
    }

    /** Lets go on what it holds; that is on its way again when this returns. */
    public void letGo() {
      if (become(State.LETS_GO) == State.HOLDS) {
        try {
          passed.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }

    /** What it holds never arrives: that connection is reset. */
    public void cut() {
      become(State.CUTS);
    }

    /** Answers what it was before; what was decided stays so. */
    private State become(State next) {
      State before = state.getAndUpdate(now -> now == State.SET || now == State.HOLDS ? next : now);
      LockSupport.unpark(holding);
      return before;
    }

    private boolean takes(byte[] buffer, int length) {
      return state.get() == State.SET
          && request.stream().allMatch(mark -> isIn(mark, buffer, length));
    }

    private boolean isAt(boolean toServer, byte[] buffer, int length) {
      return toServer ? side == Side.REQUEST : side == Side.ANSWER && isIn(answer, buffer, length);
    }

    /** Answers whether it goes on. */
    private boolean hold() {
      holding = Thread.currentThread();
      if (!state.compareAndSet(State.SET, State.HOLDS)) {
        return true;
      }
      while (state.get() == State.HOLDS) {
        LockSupport.park(this);
      }
      return state.get() == State.LETS_GO;
    }

    private static boolean isIn(byte[] mark, byte[] buffer, int length) {
      for (int i = 0; i + mark.length <= length; i++) {
        if (Arrays.equals(buffer, i, i + mark.length, mark, 0, mark.length)) {
          return true;
        }
      }
      return false;
    }
  }

  private final Set<Trap> traps = ConcurrentHashMap.newKeySet();
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

  /** The address by which it leads to a program that speaks HTTP. */
  public String url() {
    return "http://127.0.0.1:" + port();
  }

  /**
   * Changes what becomes of the bytes. What a connection held back is never delivered: it is reset
   * when the link becomes another.
   */
  public void become(Mode next) {
    Mode before = mode;
    mode = next;
    if (next == Mode.CUT
        || before == Mode.HALF_OPEN
        || before == Mode.DEAF
        || before == Mode.STALLED) {
      connections.forEach(Connection::close);
    }
    connections.forEach(Connection::wake);
  }

  /**
   * Sets a trap, which holds something once; what it holds is held until it is told otherwise.
   *
   * @param request marks, as they stand in the bytes of the request
   * @param answer a mark in the bytes of the answer, where that is held; may be empty
   */
  public Trap trap(Side side, List<String> request, String answer) {
    Trap trap = new Trap(side, request, answer);
    traps.add(trap);
    return trap;
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
    traps.forEach(Trap::cut);
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
    // Whose request is under way: a connection to Redis has one at a time.
    private volatile @Nullable Trap asked;

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
          int arrives = from == there && mode == Mode.STALLED ? headAndHalf(buffer, n) : n;
          if (arrives < n) {
            write(buffer, arrives, out);
            while (!closed && mode == Mode.STALLED) {
              LockSupport.park(this);
            }
            close();
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

    /** How many of these bytes are a head and half of the body behind it. */
    private static int headAndHalf(byte[] buffer, int length) {
      String text = new String(buffer, 0, length, StandardCharsets.ISO_8859_1);
      int end = text.startsWith("HTTP/") ? text.indexOf("\r\n\r\n") + 4 : 0;
      return length - (length - end + 1) / 2;
    }

    /** Answers whether the bytes went on. */
    private boolean pass(boolean request, byte[] buffer, int length, OutputStream out)
        throws IOException {
      Trap trap = request ? taking(buffer, length) : asked;
      // Before it goes on: the answer may be quick.
      asked = request ? trap : null;
      if (trap == null || !trap.isAt(request, buffer, length)) {
        write(buffer, length, out);
        return true;
      }
      try {
        if (!trap.hold()) {
          return false;
        }
        write(buffer, length, out);
        return true;
      } finally {
        trap.passed.countDown();
      }
    }

    private void write(byte[] buffer, int length, OutputStream out) throws IOException {
      out.write(buffer, 0, length);
      out.flush();
    }

    private @Nullable Trap taking(byte[] buffer, int length) {
      for (Trap trap : traps) {
        if (trap.takes(buffer, length)) {
          return trap;
        }
      }
      return null;
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
