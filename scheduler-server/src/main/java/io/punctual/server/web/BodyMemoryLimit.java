package io.punctual.server.web;

import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Caller;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Limits the memory that the bodies of all calls under way take together, and the half of it that
 * one caller may take. One call of the largest kind fits in any case.
 */
public final class BodyMemoryLimit {

  /** Largest body of one job, in bytes. */
  public static final int MAX_BODY = 1 << 20;

  /** Largest body of a batch, in bytes. */
  public static final int MAX_BATCH_BODY = 16 << 20;

  private static final String ATTRIBUTE = BodyMemoryLimit.class.getName();
  // Of a byte that is read half a dozen is made: buffers, text, fields.
  private static final int PART_OF_HEAP = 16;
  private static final int PART_OF_CALLER = 2;

  private final long most;
  private final long mostOfCaller;
  private final AtomicLong held = new AtomicLong();
  private final Map<String, Long> heldByCaller = new ConcurrentHashMap<>();

  /**
   * @param most bytes of all callers
   * @param mostOfCaller bytes of one
   */
  BodyMemoryLimit(long most, long mostOfCaller) {
    this.most = most;
    this.mostOfCaller = mostOfCaller;
  }

  /**
   * A share of this process's heap.
   *
   * @param least bytes of the largest call
   */
  static BodyMemoryLimit ofHeap(long least) {
    long most = Math.max(least, Runtime.getRuntime().maxMemory() / PART_OF_HEAP);
    return new BodyMemoryLimit(most, Math.max(least, most / PART_OF_CALLER));
  }

  /** Returns the bytes that all calls hold. */
  long held() {
    return held.get();
  }

  /** Opens the account of a call; the caller closes it when the call is over. */
  Part open(HttpServletRequest request) {
    Part part = new Part();
    request.setAttribute(ATTRIBUTE, part);
    return part;
  }

  /**
   * Adds to what a call holds.
   *
   * @return whether it may hold that much more; if not, it holds nothing any more
   */
  public static boolean hold(HttpServletRequest request, int bytes) {
    return !(request.getAttribute(ATTRIBUTE) instanceof Part part) || part.add(bytes);
  }

  /** The answer to a call that may not hold more. */
  public static ApiException refusal() {
    return ApiException.unavailable(
        "this scheduler has too many large calls under way: nothing was changed; try again later,"
            + " send fewer jobs at once, or ask another one",
        Duration.ofSeconds(2));
  }

  /** The account of one call; used by the thread that serves it. */
  final class Part {

    private @Nullable String caller;
    private long own;

    private boolean add(int bytes) {
      if (own == 0) {
        caller = Caller.current().account();
      }
      own += bytes;
      String name = caller;
      boolean fits =
          name == null || heldByCaller.merge(name, Long.valueOf(bytes), Long::sum) <= mostOfCaller;
      if (held.addAndGet(bytes) > most || !fits) {
        close();
        return false;
      }
      return true;
    }

    /** Gives back what the call holds. */
    void close() {
      long mine = own;
      own = 0;
      held.addAndGet(-mine);
      String name = caller;
      if (name != null && mine > 0) {
        heldByCaller.computeIfPresent(name, (any, sum) -> sum == mine ? null : sum - mine);
      }
    }
  }
}
