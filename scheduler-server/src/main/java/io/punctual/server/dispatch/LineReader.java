package io.punctual.server.dispatch;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads lines of bounded length and number of bytes, each as soon as it is whole. */
final class LineReader {

  private final InputStream in;
  private final int maxLine;
  private final long maxTotal;
  private byte[] buffer = new byte[8192];
  // What was read and is in no line yet.
  private int position;
  private int limit;
  private long total;

  LineReader(InputStream in, int maxLine, long maxTotal) {
    this.in = in;
    this.maxLine = maxLine;
    this.maxTotal = maxTotal;
  }

  /**
   * The next line without its end; null when the stream ended. What stands behind the last line end
   * is no line: it may have been cut.
   *
   * @throws IOException if the stream broke or a bound was passed
   */
  @Nullable String next() throws IOException {
    int seen = position;
    while (true) {
      for (; seen < limit; seen++) {
        if (buffer[seen] == '\n') {
          String line = new String(buffer, position, seen - position, StandardCharsets.UTF_8);
          requireLine(seen - position);
          position = seen + 1;
          return line.strip();
        }
      }
      requireLine(limit - position);
      seen -= position;
      if (!fill()) {
        return null;
      }
    }
  }

  private void requireLine(int length) throws IOException {
    if (length > maxLine) {
      throw new IOException("a line of the answer is longer than " + maxLine + " bytes");
    }
  }

  /** Reads on, with the line that has begun at the front; false at the end. */
  private boolean fill() throws IOException {
    int begun = limit - position;
    byte[] into = 2 * begun > buffer.length ? new byte[2 * buffer.length] : buffer;
    System.arraycopy(buffer, position, into, 0, begun);
    buffer = into;
    position = 0;
    limit = begun;
    int count = in.read(buffer, begun, buffer.length - begun);
    if (count < 0) {
      return false;
    }
    limit += count;
    total += count;
    if (total > maxTotal) {
      throw new IOException("the answer is longer than " + maxTotal + " bytes");
    }
    return true;
  }
}
