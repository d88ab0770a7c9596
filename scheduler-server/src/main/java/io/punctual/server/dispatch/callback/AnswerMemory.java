package io.punctual.server.dispatch.callback;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds the memory of all answers that are being read. What workers send is kept only until a line
 * is complete and, where answers are signed, until its signature came; many slow answers together
 * must not fill the heap.
 */
public final class AnswerMemory {

  private static final long LEAST = 4L * 1024 * 1024;

  private final long most;
  private final AtomicLong used = new AtomicLong();

  /**
   * @param most bytes for all answers together
   */
  AnswerMemory(long most) {
    this.most = most;
  }

  /** A sixteenth of the heap, 4 MB at least. */
  public static AnswerMemory ofHeap() {
    return new AnswerMemory(Math.max(LEAST, Runtime.getRuntime().maxMemory() / 16));
  }

  /** What one answer takes; to be closed with it. Not thread-safe. */
  final class Share implements AutoCloseable {

    private long taken;

    /**
     * Takes more.
     *
     * @throws BadAnswerException if the answers under way take all there is
     */
    void take(long bytes) throws BadAnswerException {
      if (used.addAndGet(bytes) > most) {
        used.addAndGet(-bytes);
        throw new BadAnswerException(
            "the answers that are being read take more than "
                + most
                + " bytes of the scheduler's heap together: this one was given up");
      }
      taken += bytes;
    }

    /** Gives some of it back. */
    void give(long bytes) {
      taken -= bytes;
      used.addAndGet(-bytes);
    }

    @Override
    public void close() {
      used.addAndGet(-taken);
      taken = 0;
    }
  }

  Share share() {
    return new Share();
  }

  /** Bytes that are taken now. */
  public long used() {
    return used.get();
  }
}
