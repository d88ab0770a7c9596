package io.punctual.spring.plugin;

import io.punctual.client.lease.JobLease;
import io.punctual.core.Delivery;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.local.LocalLease;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lease of a delivery of the engine in this process, which has no watch of its own. */
final class DeliveryLease implements JobLease {

  private static final Logger log = LoggerFactory.getLogger(DeliveryLease.class);

  private final Delivery delivery;
  private final String instance;
  private final LocalLease lease;

  DeliveryLease(Delivery delivery, String instance) {
    this.delivery = delivery;
    this.instance = instance;
    this.lease = new LocalLease(delivery);
  }

  @Override
  public void extend(Duration timeToRun) {
    lease.extend(timeToRun);
  }

  @Override
  public String defer(Duration within) {
    return lease.defer(within);
  }

  // Elsewhere: the thread that hands out deliveries must not wait for the store.
  @Override
  public void remind(Duration timeToRun) {
    var unused =
        CompletableFuture.runAsync(() -> delivery.extend(timeToRun))
            .exceptionally(
                e -> {
                  log.debug("More time for {} was not asked for", delivery.taskId(), e);
                  return null;
                });
  }

  @Override
  public void onLost(Runnable action) {
    delivery.onLost(action);
  }

  @Override
  public void onCancelled(Runnable action) {
    delivery.onCancelling(action);
  }

  @Override
  public void timeOver(Duration timeToRun) {
    log.warn(
        "Job {} of {}, attempt {}, is interrupted: it ran longer than its time-to-run of {}",
        delivery.taskId(),
        delivery.queue(),
        delivery.attempt(),
        timeToRun);
    var unused =
        delivery.unknown(
            new ErrorNote(instance, "it ran longer than its time-to-run of " + timeToRun),
            true,
            RepeatCause.TIME_OVER);
  }
}
