package io.punctual.core.engine;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Bounds the memory that the contents of open deliveries take: jobs are bounded by number, and a
 * thousand large ones would fill a small heap. What is asked is whether more may be claimed, not
 * whether this much: the claims of some scanners at once may exceed the bound, by {@link
 * io.punctual.core.store.JobStore#MAX_CLAIMED_BYTES} each.
 */
final class OpenContent {

  private static final long LEAST = 8L << 20;
  // Of a byte stored a handful is made: the record, its text, the request.
  private static final int PART_OF_HEAP = 16;

  private final long most;
  private final Map<String, Long> ofApplication = new HashMap<>();
  private final Set<Doorbell> waiting = new HashSet<>();
  private long open;

  /**
   * @param most bytes of all applications together; one alone may have half of it, so that the
   *     large jobs of a slow one leave room for the others
   */
  OpenContent(long most) {
    this.most = most;
  }

  /** As much as this process bears. */
  static OpenContent ofHeap() {
    return new OpenContent(Math.max(LEAST, Runtime.getRuntime().maxMemory() / PART_OF_HEAP));
  }

  /**
   * Whether jobs of the application may be claimed.
   *
   * @param bell rung when it is worth asking again
   */
  synchronized boolean hasRoom(String application, Doorbell bell) {
    if (open < most && ofApplication.getOrDefault(application, 0L) < most / 2) {
      return true;
    }
    waiting.add(bell);
    return false;
  }

  /** These bytes are out. */
  synchronized void opened(String application, long bytes) {
    open += bytes;
    ofApplication.merge(application, bytes, Long::sum);
  }

  /** These bytes are needed no more. */
  void closed(String application, long bytes) {
    Set<Doorbell> woken;
    synchronized (this) {
      long own = ofApplication.getOrDefault(application, 0L);
      if (own > bytes) {
        ofApplication.put(application, own - bytes);
      } else {
        ofApplication.remove(application);
      }
      boolean crossed = crosses(open, bytes, most) || crosses(own, bytes, most / 2);
      open -= bytes;
      if (!crossed || waiting.isEmpty()) {
        return;
      }
      woken = Set.copyOf(waiting);
      waiting.clear();
    }
    woken.forEach(Doorbell::room);
  }

  // Somewhat below the bound: not all that wait shall be woken for each job that ends.
  private static boolean crosses(long before, long bytes, long bound) {
    long low = bound / 8 * 7;
    return before >= low && before - bytes < low;
  }
}
