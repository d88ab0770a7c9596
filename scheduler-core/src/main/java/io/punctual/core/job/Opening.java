package io.punctual.core.job;

/**
 * A time span in which a bucket delivers jobs by its hours: the current one, or the next one. All
 * times are epoch ms of the store.
 *
 * @param to exclusive
 * @param goodFrom when it was found out; a clock that shows less was set back
 * @param goodUntil when it has to be found out again, exclusive
 */
public record Opening(long from, long to, long goodFrom, long goodUntil) {

  /** As the store keeps it. */
  public String text() {
    return from + " " + to + " " + goodFrom + " " + goodUntil;
  }
}
