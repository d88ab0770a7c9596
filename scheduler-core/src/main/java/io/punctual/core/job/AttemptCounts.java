package io.punctual.core.job;

/**
 * The number of attempts of a job, by outcome.
 *
 * @param undeliverable nobody was reached and nothing ran; costs no attempt
 * @param unknown attempts whose end nobody saw: timed out, connection lost, lease ran out
 * @param failed attempts that the worker said had failed
 * @param counted attempts that count towards the limit since the job was last (re)queued
 * @param delivered attempts of any kind since the job was last (re)queued
 * @param suspect whether the job was in a batch whose stream broke and must travel alone
 * @param firstDue epoch ms at which the job was due at first, or since it was moved; in version 1
 *     the present due time takes its place
 * @param version the number of the last change that this was written with; 1 for a job that was not
 *     changed since it was created
 * @param attemptDue epoch ms at which the next attempt first fell due, if it then reached no worker
 *     or was given back; 0 if its due time has not changed since
 */
public record AttemptCounts(
    int undeliverable,
    int unknown,
    int failed,
    int counted,
    int delivered,
    boolean suspect,
    long firstDue,
    long version,
    long attemptDue) {

  /** A job that was never tried. */
  public static final AttemptCounts NONE = of(0, 1);

  /** A job that was not tried since it was due at first at {@code firstDue}. */
  public static AttemptCounts of(long firstDue, long version) {
    return new AttemptCounts(0, 0, 0, 0, 0, false, firstDue, version, 0);
  }

  /** Attempts that ran or may have run. */
  public int attempts() {
    return unknown + failed;
  }
}
