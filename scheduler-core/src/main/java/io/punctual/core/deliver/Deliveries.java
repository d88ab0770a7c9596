package io.punctual.core.deliver;

import io.punctual.core.Delivery;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.LogFields;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.work.Context;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes deliveries of what was claimed from one bucket, and has their leases kept. */
public final class Deliveries {

  private static final Logger log = LoggerFactory.getLogger(Deliveries.class);

  private final Bucket bucket;
  private final Context context;
  private final LeaseKeeper keeper;
  private final Settler settler;
  private final RetryDelays retryDelays;

  public Deliveries(
      Bucket bucket,
      Context context,
      LeaseKeeper keeper,
      Settler settler,
      RetryDelays retryDelays) {
    this.bucket = bucket;
    this.context = context;
    this.keeper = keeper;
    this.settler = settler;
    this.retryDelays = retryDelays;
  }

  /** See {@link LeaseKeeper#keepLapsed}. */
  public void keepLapsed() {
    keeper.keepLapsed();
  }

  /** One for each job, in order; one whose content cannot be read becomes a dead letter instead. */
  public List<Delivery> open(List<ClaimedJob> jobs, ClaimTime time) {
    List<OpenDelivery> open = new ArrayList<>(jobs.size());
    for (ClaimedJob job : jobs) {
      try {
        open.add(
            new OpenDelivery(
                bucket.queue(),
                job,
                job.record().read(),
                retryDelays,
                settler,
                keeper,
                context.ticks(),
                time,
                context.options().lease()));
      } catch (CorruptContentException e) {
        bury(job, e);
      }
    }
    keeper.opened(open);
    return List.copyOf(open);
  }

  /** Makes a dead letter of a job whose content cannot be read. */
  public void bury(ClaimedJob job, CorruptContentException e) {
    LogFields.of(log.atError(), bucket.queue(), job.taskId())
        .log(
            "{}: what is stored of job {} cannot be read: {}",
            bucket,
            job.taskId(),
            e.getMessage());
    ErrorNote note = new ErrorNote("", String.valueOf(e.getMessage()));
    var unused = settler.keep(retryDelays.rejected(job, note));
  }
}
