package io.punctual.server.dispatch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads lines of bounded length and number of bytes, each as soon as it is whole. */
final class LineReader {

  private final InputStream in;
  private final int maxLine;
  private final long maxTotal;
  private final byte[] buffer = new byte[8192];
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
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    while (true) {
      if (position == limit) {
        limit = in.read(buffer);
        position = 0;
        if (limit < 0) {
          limit = 0;
          return null;
        }
        total += limit;
        if (total > maxTotal) {
          throw new IOException("the answer is longer than " + maxTotal + " bytes");
        }
      }
      while (position < limit) {
        byte b = buffer[position++];
        if (b == '\n') {
          return line.toString(StandardCharsets.UTF_8).strip();
        }
        line.write(b);
        if (line.size() > maxLine) {
          throw new IOException("a line of the answer is longer than " + maxLine + " bytes");
        }
      }
    }
  }
}
