package io.punctual.core.wake;

/**
 * Hands out the moments at which idle buckets are checked, so far apart that all of them together
 * stay within the rate, however many there are. A bucket asks for its next moment only when the
 * last one has passed, so the moments reach no further ahead than one round over all buckets.
 *
 * <p>Some share a moment: what was woken for the first check costs the others nothing.
 */
public final class IdleChecks {

  private static final int MOST_TOGETHER = 10;

  private final int together;
  private final long spacing;
  private long moment;
  private int taken;
  private int members = 1;

  public IdleChecks(int perSecond) {
    this.together = Math.min(MOST_TOGETHER, perSecond);
    this.spacing = together * 1_000_000_000L / perSecond;
  }

  /**
   * Takes the first free moment that is not before {@code earliest}.
   *
   * @param members engines that check the same buckets and stay within the rate together
   */
  public synchronized long reserve(long earliest, int members) {
    if (members != this.members) {
      // The moments that were handed out reach as far ahead as suited another number of engines.
      this.members = members;
      taken = 0;
    }
    if (taken == 0) {
      moment = earliest;
    } else if (taken == together || earliest > moment) {
      moment = Math.max(earliest, moment + spacing * members);
      taken = 0;
    }
    taken++;
    return moment;
  }
}
