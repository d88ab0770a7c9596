package io.punctual.spring.client.reactive;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/**
 * The body of a request as a stream, for a thread that may block. Unlike {@link
 * DataBufferUtils#subscriberInputStream}, a read returns what is there and does not wait until it
 * has filled its array: the reader bounds the time of a body that comes a byte at a time. Not safe
 * for use by several threads.
 */
final class BodyInputStream extends InputStream {

  /** Parts of the body that wait to be read, of 8 kB each as a rule. */
  private static final int AHEAD = 16;

  private final Iterator<byte[]> parts;
  private ByteBuffer part = ByteBuffer.allocate(0);

  /**
   * @param silence after which a read fails, if nothing comes
   */
  BodyInputStream(Flux<DataBuffer> body, Duration silence) {
    // What is not read yet waits at the sender, but for some parts. With one part at a time, each
    // would wait for the thread that reads.
    this.parts = body.map(BodyInputStream::bytes).timeout(silence).toIterable(AHEAD).iterator();
  }

  private static byte[] bytes(DataBuffer buffer) {
    byte[] bytes = new byte[buffer.readableByteCount()];
    buffer.read(bytes);
    DataBufferUtils.release(buffer);
    return bytes;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (!part.hasRemaining()) {
      byte @Nullable [] next = next();
      if (next == null) {
        return -1;
      }
      part = ByteBuffer.wrap(next);
    }
    int count = Math.min(length, part.remaining());
    part.get(into, offset, count);
    return count;
  }

  private byte @Nullable [] next() throws IOException {
    try {
      return parts.hasNext() ? parts.next() : null;
    } catch (RuntimeException e) {
      // The connection broke, or nothing came for too long.
      throw new IOException("the body of the request ended before it was whole", e);
    }
  }

  /** Reads nothing more. */
  @Override
  public void close() {
    if (parts instanceof Disposable disposable) {
      disposable.dispose();
    }
  }
}
