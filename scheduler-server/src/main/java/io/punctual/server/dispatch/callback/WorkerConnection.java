package io.punctual.server.dispatch.callback;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLSocket;
import org.apache.hc.client5.http.impl.io.DefaultManagedHttpClientConnection;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.impl.io.SocketHolder;
import org.apache.hc.core5.http.io.HttpMessageParserFactory;
import org.apache.hc.core5.http.io.HttpMessageWriterFactory;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/**
 * A connection that can tell without waiting whether it is fit for another request: not closed by
 * the other side, and without bytes that nobody asked for, which would be taken for the answer to
 * the next request.
 */
final class WorkerConnection extends DefaultManagedHttpClientConnection {

  private static final Timeout SHORTEST = Timeout.ofMilliseconds(1);

  private @Nullable Probe probe;
  private boolean used;

  WorkerConnection(
      Http1Config config,
      HttpMessageWriterFactory<ClassicHttpRequest> writers,
      HttpMessageParserFactory<ClassicHttpResponse> parsers) {
    super("worker", null, null, config, null, null, writers, parsers);
  }

  @Override
  public void bind(Socket socket) throws IOException {
    bind(new Holder(socket));
  }

  @Override
  public void bind(SSLSocket tls, Socket socket) throws IOException {
    bind(new Holder(tls, socket));
  }

  /** Whether no request can be sent on it any more. */
  @Override
  public boolean isStale() throws IOException {
    Probe reading = probe;
    if (!isOpen()) {
      return true;
    } else if (!used || reading == null) {
      return false;
    }
    reading.asksOnly = true;
    try {
      // True where bytes had come before, or come now; else the probe says how it stands.
      return isDataAvailable(SHORTEST) || reading.ended;
    } catch (IOException e) {
      return true;
    } finally {
      reading.asksOnly = false;
    }
  }

  @Override
  protected void onRequestSubmitted(ClassicHttpRequest request) {
    used = true;
  }

  /** Gives out the socket's bytes through a {@link Probe}. */
  private final class Holder extends SocketHolder {

    Holder(Socket socket) {
      super(socket);
    }

    Holder(SSLSocket tls, Socket socket) {
      super(tls, socket);
    }

    @Override
    protected InputStream getInputStream(Socket socket) throws IOException {
      Probe reading = new Probe(super.getInputStream(socket), getBaseSocket().getChannel());
      probe = reading;
      return reading;
    }
  }

  /** Reads as the socket does, but while asked only, does not wait. */
  private static final class Probe extends FilterInputStream {

    private final @Nullable SocketChannel channel;
    private boolean asksOnly;
    private boolean ended;

    Probe(InputStream in, @Nullable SocketChannel channel) {
      super(in);
      this.channel = channel;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      if (!asksOnly) {
        return super.read(into, offset, length);
      }
      // Whatever comes is of no use any more, TLS or not.
      if (super.available() > 0 || !isSilent()) {
        ended = true;
      }
      throw new SocketTimeoutException("nothing to read");
    }

    private boolean isSilent() throws IOException {
      if (channel == null) {
        return true;
      }
      channel.configureBlocking(false);
      try {
        return channel.read(ByteBuffer.allocate(1)) == 0;
      } finally {
        channel.configureBlocking(true);
      }
    }
  }
}
