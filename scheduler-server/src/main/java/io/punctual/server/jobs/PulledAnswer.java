package io.punctual.server.jobs;

import io.punctual.core.Claims;
import io.punctual.core.PulledJob;
import io.punctual.core.store.StoreException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An answer that hands jobs to their puller. Once it is written, an attempt that runs out counts;
 * where it cannot be written, the jobs go back untried.
 */
public final class PulledAnswer {

  private static final Logger log = LoggerFactory.getLogger(PulledAnswer.class);

  private final Object body;
  private final List<PulledJob> jobs;
  private final Claims claims;
  private final AtomicBoolean decided = new AtomicBoolean();

  /**
   * @param body what is written, as JSON
   * @param jobs the jobs in it
   */
  public PulledAnswer(Object body, List<PulledJob> jobs, Claims claims) {
    this.body = body;
    this.jobs = jobs;
    this.claims = claims;
  }

  /** Returns what is written, as JSON. */
  public Object body() {
    return body;
  }

  /** Notes that the last byte has left. */
  public void written() {
    if (decided.compareAndSet(false, true)) {
      claims.received(jobs);
    }
  }

  /** The request is over: what was not written by now never will be. */
  void over() {
    if (decided.compareAndSet(false, true)) {
      giveBack(jobs, claims);
    }
  }

  /** Gives jobs back that never reached their puller. */
  static void giveBack(List<PulledJob> jobs, Claims claims) {
    try {
      for (PulledJob job : jobs) {
        var unused = claims.giveBack(job.token());
      }
    } catch (StoreException e) {
      // They come back when their leases are over, at no cost either.
      log.debug("{} pulled jobs could not be given back", jobs.size(), e);
    }
  }
}
