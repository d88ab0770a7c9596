package io.punctual.core.local;

import io.punctual.LeaseLostException;
import io.punctual.core.Delivery;
import io.punctual.core.store.StoreException;
import io.punctual.internal.AttemptLease;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** The lease of a delivery of an engine in this process. */
public final class LocalLease implements AttemptLease {

  private final Delivery delivery;

  public LocalLease(Delivery delivery) {
    this.delivery = delivery;
  }

  @Override
  public void extend(Duration timeToRun) {
    require(() -> delivery.extend(timeToRun));
  }

  @Override
  public String defer(Duration within) {
    require(() -> delivery.hold(within));
    return delivery.token().text();
  }

  private void require(BooleanSupplier held) {
    try {
      if (!held.getAsBoolean()) {
        throw lost();
      }
    } catch (StoreException e) {
      throw EngineJobScheduler.translate(e);
    }
  }

  private LeaseLostException lost() {
    return new LeaseLostException(
        "the job %s of %s is not this attempt's any more: its lease ran out, or it was ended; nothing was changed"
            .formatted(delivery.taskId(), delivery.queue().taskType()));
  }
}
