package io.punctual.benchmark.contest;

/**
 * Rounds that are not measured. Compilers work for as long as a JVM is new: what is measured is the
 * rate at which rounds stop getting faster.
 */
public final class WarmUp {

  private static final double FASTER = 1.1;
  private static final int AT_MOST = 3;

  private final long begin = System.nanoTime();
  private final int seconds;
  private double best;
  private boolean over;

  /**
   * @param seconds how long it takes at least, and a third of what it takes at most; 0 for one
   *     round
   */
  public WarmUp(int seconds) {
    this.seconds = seconds;
  }

  /** Whether the round that has just ended counts. */
  public boolean isOver(double rate) {
    boolean counts = over;
    double times = (System.nanoTime() - begin) / 1e9 / seconds;
    over |= times > AT_MOST || (times > 1 && rate < FASTER * best);
    best = Math.max(best, rate);
    return counts;
  }
}
