package io.punctual.server.api;

import io.punctual.server.web.ApiException;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Bounds the memory that the bodies of the calls under way take, all together. */
final class OpenBodies {

  private static final String ATTRIBUTE = OpenBodies.class.getName();
  // Of a byte that is read half a dozen is made: buffers, text, fields.
  private static final int PART_OF_HEAP = 16;

  private final long most;
  private final AtomicLong held = new AtomicLong();

  /**
   * @param most bytes
   */
  OpenBodies(long most) {
    this.most = most;
  }

  /**
   * As much as this process bears.
   *
   * @param least bytes: one call of the largest kind can be made in any case
   */
  static OpenBodies ofHeap(long least) {
    return new OpenBodies(Math.max(least, Runtime.getRuntime().maxMemory() / PART_OF_HEAP));
  }

  /** What one call has read; to be closed when the call is over. */
  Part open(HttpServletRequest request) {
    Part part = new Part();
    request.setAttribute(ATTRIBUTE, part);
    return part;
  }

  /** Whether the call may hold that much more; if not, it holds nothing any more. */
  static boolean hold(HttpServletRequest request, int bytes) {
    return !(request.getAttribute(ATTRIBUTE) instanceof Part part) || part.add(bytes);
  }

  /** What a call hears that may not. */
  static ApiException refusal() {
    return ApiException.unavailable(
        "this scheduler has too many large calls under way: nothing was changed; try again later,"
            + " send fewer jobs at once, or ask another one",
        Duration.ofSeconds(2));
  }

  /** What one call has read. */
  final class Part {

    private long own;

    private boolean add(int bytes) {
      own += bytes;
      if (held.addAndGet(bytes) > most) {
        close();
        return false;
      }
      return true;
    }

    /** It is needed no more. */
    void close() {
      held.addAndGet(-own);
      own = 0;
    }
  }
}
