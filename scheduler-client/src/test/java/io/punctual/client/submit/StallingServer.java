package io.punctual.client.submit;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A scheduler whose host stops after the response headers: the announced body never comes. */
final class StallingServer implements AutoCloseable {

  private static final byte[] HEADERS =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
          .getBytes(StandardCharsets.US_ASCII);

  private final ServerSocket server;
  private final Queue<Socket> connections = new ConcurrentLinkedQueue<>();
  private final AtomicInteger answered = new AtomicInteger();
  private final AtomicInteger open = new AtomicInteger();

  StallingServer() {
    try {
      server = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    start(this::accept);
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "stalling-server");
    thread.setDaemon(true);
    thread.start();
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + server.getLocalPort());
  }

  /** How many calls have got headers and the first byte of a body. */
  int answered() {
    return answered.get();
  }

  /** How many connections their callers have not closed. */
  int open() {
    return open.get();
  }

  private void accept() {
    while (true) {
      try {
        Socket socket = server.accept();
        connections.add(socket);
        open.incrementAndGet();
        start(() -> stall(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void stall(Socket socket) {
    try {
      InputStream in = socket.getInputStream();
      // A request of these tests is smaller than that, and comes at once.
      if (in.read(new byte[64 * 1024]) > 0) {
        socket.getOutputStream().write(HEADERS);
        answered.incrementAndGet();
      }
      while (in.read(new byte[1024]) >= 0) {
        // The rest of the request.
      }
    } catch (IOException e) {
      // Closed by the caller, too.
      return;
    } finally {
      open.decrementAndGet();
    }
  }

  @Override
  public void close() {
    try {
      server.close();
      for (Socket socket : connections) {
        socket.close();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
