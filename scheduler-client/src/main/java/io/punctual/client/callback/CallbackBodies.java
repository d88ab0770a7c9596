package io.punctual.client.callback;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/**
 * Reads the bodies of callbacks: each bounded in size and time, all under way together in memory.
 * What is reserved is what came, never what was announced.
 */
final class CallbackBodies {

  // Of a byte that is read half a dozen is made: buffers, what is signed, text, fields.
  private static final int PART_OF_HEAP = 16;

  // Who sends a byte now and then would never be silent for long enough to be given up.
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** A large body has more time, at 100 kB a second. */
  private static final long NANOS_PER_BYTE = 10_000;

  /** Twice as much as a scheduler sends at most. */
  private static final long MOST_THROWN_AWAY = 16L << 20;

  private static final int BUFFER = 8 * 1024;
  private static final Pattern LENGTH = Pattern.compile("\\d{1,18}");

  private final long largest;
  private final long most;
  private final Duration patience;
  private final AtomicLong held = new AtomicLong();

  /**
   * @param largest most bytes of one
   * @param most bytes of all together
   * @param patience how long the smallest may take
   */
  CallbackBodies(long largest, long most, Duration patience) {
    this.largest = largest;
    this.most = most;
    this.patience = patience;
  }

  /**
   * As many as this process bears.
   *
   * @param largest most bytes of one; one such can be read in any case
   */
  static CallbackBodies ofHeap(long largest) {
    return new CallbackBodies(
        largest, Math.max(largest, Runtime.getRuntime().maxMemory() / PART_OF_HEAP), PATIENCE);
  }

  /** Why a body was not read, for the answer. */
  static final class NotReadException extends Exception {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final boolean dropped;

    private NotReadException(int status, String text, boolean dropped) {
      super(text, null, false, false);
      this.status = status;
      this.dropped = dropped;
    }

    /** Whether nothing more is read of the request. */
    boolean dropped() {
      return dropped;
    }

    int status() {
      return status;
    }

    String text() {
      return String.valueOf(getMessage());
    }
  }

  /** Bytes that all bodies under way hold now. For tests. */
  long held() {
    return held.get();
  }

  /** The place of one body. To be closed when its bytes are needed no more. */
  Place open() {
    return new Place();
  }

  /**
   * Lets what a refused request still brings be thrown away once it was answered, up to a bound:
   * while they send, hardly any clients read an answer, and a connection that is closed then looks
   * like a lost one.
   */
  void throwAway(CallbackExchange request) {
    request.afterAnswer(() -> isThrownAway(request));
  }

  private boolean isThrownAway(CallbackExchange request) {
    byte[] buffer = new byte[BUFFER];
    long begin = System.nanoTime();
    long size = 0;
    try {
      InputStream in = request.body();
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        size += count;
        if (size > MOST_THROWN_AWAY || isLate(begin, size)) {
          return false;
        }
      }
      return true;
    } catch (IOException | IllegalStateException e) {
      // It has had its answer, or is gone.
      return false;
    }
  }

  /** Reads nothing more of a request. */
  private static void drop(CallbackExchange request) {
    request.afterAnswer(() -> false);
  }

  private static long announced(CallbackExchange request) {
    String length = request.header("Content-Length");
    return length != null && LENGTH.matcher(length).matches() ? Long.parseLong(length) : -1;
  }

  private boolean isLate(long begin, long size) {
    return System.nanoTime() - begin > patience.toNanos() + size * NANOS_PER_BYTE;
  }

  /** What one call holds. */
  final class Place implements AutoCloseable {

    private long own;

    /** Reads the body. */
    byte[] read(CallbackExchange request) throws NotReadException {
      if (announced(request) > largest) {
        throw tooLarge();
      }
      try {
        return readAll(request, request.body());
      } catch (IOException | IllegalStateException e) {
        // The latter where a chunked body has too many trailers.
        drop(request);
        throw new NotReadException(400, "the body ended before it was whole", true);
      }
    }

    private byte[] readAll(CallbackExchange request, InputStream in)
        throws IOException, NotReadException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      byte[] buffer = new byte[BUFFER];
      long begin = System.nanoTime();
      long size = 0;
      boolean room = true;
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        size += count;
        if (size > largest) {
          throw tooLarge();
        }
        if (room && !hold(count)) {
          // The rest is read all the same, so that the scheduler sees the answer.
          room = false;
          bytes = new ByteArrayOutputStream();
        }
        if (room) {
          bytes.write(buffer, 0, count);
        }
        if (isLate(begin, size)) {
          drop(request);
          throw new NotReadException(
              503,
              "the body did not come within " + patience.toSeconds() + " s; nothing was run",
              true);
        }
      }
      if (!room) {
        throw new NotReadException(
            503, "this instance has too many large callbacks under way; nothing was run", false);
      }
      return bytes.toByteArray();
    }

    private NotReadException tooLarge() {
      return new NotReadException(413, "the request is larger than " + largest + " bytes", false);
    }

    private boolean hold(int count) {
      own += count;
      if (held.addAndGet(count) > most) {
        close();
        return false;
      }
      return true;
    }

    @Override
    public void close() {
      held.addAndGet(-own);
      own = 0;
    }
  }
}
