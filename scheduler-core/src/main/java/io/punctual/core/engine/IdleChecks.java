package io.punctual.core.engine;

/**
 * Hands out the moments at which idle buckets are checked, so far apart that all of them together
 * stay within the rate, however many there are. A bucket asks for its next moment only when the
 * last one has passed, so the moments reach no further ahead than one round over all buckets.
 */
final class IdleChecks {

  private final long spacing;
  private long next;

  IdleChecks(int perSecond) {
    this.spacing = 1_000_000_000L / perSecond;
  }

  /** Takes the first free moment that is not before {@code earliest}. */
  synchronized long reserve(long earliest) {
    long slot = Math.max(earliest, next);
    next = slot + spacing;
    return slot;
  }
}
