package io.punctual.core.recovery;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.StoreException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Tells {@link Contact} and {@link Outages} of every call to the store. */
public final class StoreCallMonitor implements StoreCalls.Listener {

  private final LongSupplier ticks;
  private final Contact contact;
  private final Outages outages;
  private final Consumer<Bucket> look;

  /**
   * @param look makes the scanner of a bucket look at it: of a damaged one it finds out when it is
   *     repaired, which no other call may do
   */
  public StoreCallMonitor(
      LongSupplier ticks, Contact contact, Outages outages, Consumer<Bucket> look) {
    this.ticks = ticks;
    this.contact = contact;
    this.outages = outages;
    this.look = look;
  }

  @Override
  public void answered(String call, @Nullable Bucket bucket, long nanos) {
    contact.answered(ticks.getAsLong());
    outages.answered(call, bucket);
  }

  @Override
  public void failed(String call, @Nullable Bucket bucket, long nanos, RuntimeException e) {
    if (e instanceof StoreException store
        && outages.failed(call, bucket, store)
        && bucket != null) {
      look.accept(bucket);
    }
  }
}
