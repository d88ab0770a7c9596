package io.punctual.server.dispatch.callback;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reads lines of bounded length and number of bytes, each as soon as it is complete. */
final class LineReader {

  private static final int FIRST_BUFFER = 1024;

  private final InputStream in;
  private final int maxLine;
  private final long maxTotal;
  private final AnswerMemory.Share memory;
  private byte[] buffer = new byte[FIRST_BUFFER];
  // What was read and is in no line yet.
  private int position;
  private int limit;
  private long total;

  /**
   * @param maxLine bytes of one line
   * @param maxTotal bytes since the last line that {@link #counts}
   * @param memory where the buffer's growth is taken from
   */
  LineReader(InputStream in, int maxLine, long maxTotal, AnswerMemory.Share memory) {
    this.in = in;
    this.maxLine = maxLine;
    this.maxTotal = maxTotal;
    this.memory = memory;
  }

  /**
   * Returns the next line without its end and without white space around it; null when the stream
   * ended. Bytes behind the last line end are no line: they may have been cut.
   *
   * @throws BadAnswerException if a bound was passed
   * @throws IOException if the stream broke
   */
  byte @Nullable [] next() throws IOException {
    int seen = position;
    while (true) {
      for (; seen < limit; seen++) {
        if (buffer[seen] == '\n') {
          requireLine(seen - position);
          byte[] line = stripped(position, seen);
          position = seen + 1;
          return line;
        }
      }
      requireLine(limit - position);
      seen -= position;
      if (!fill()) {
        return null;
      }
    }
  }

  /** The last line was one that was waited for: the bound of the total begins anew. */
  void counts() {
    total = 0;
  }

  private byte[] stripped(int from, int to) {
    int first = from;
    int end = to;
    while (first < end && buffer[first] >= 0 && buffer[first] <= ' ') {
      first++;
    }
    while (end > first && buffer[end - 1] >= 0 && buffer[end - 1] <= ' ') {
      end--;
    }
    return Arrays.copyOfRange(buffer, first, end);
  }

  private void requireLine(int length) throws BadAnswerException {
    if (length > maxLine) {
      throw new BadAnswerException("a line of the answer is longer than " + maxLine + " bytes");
    }
  }

  /** Reads on, with the line that has begun at the front; false at the end. */
  private boolean fill() throws IOException {
    int begun = limit - position;
    byte[] into = buffer;
    if (2 * begun > buffer.length) {
      memory.take(buffer.length);
      into = new byte[2 * buffer.length];
    }
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
      throw new BadAnswerException(
          "the answer is longer than " + maxTotal + " bytes without a result that counts");
    }
    return true;
  }
}
