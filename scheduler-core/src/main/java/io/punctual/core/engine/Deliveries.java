package io.punctual.core.engine;

import io.punctual.core.job.CorruptContentException;
import io.punctual.core.queue.QueueName;
import io.punctual.core.store.ClaimedJob;
import java.util.ArrayList;
import java.util.List;

/** Makes deliveries of what was claimed from one bucket, and has their leases kept. */
final class Deliveries {

  private final QueueName queue;
  private final Context context;
  private final LeaseKeeper keeper;
  private final Settler settler;
  private final Endings endings;
  private final Puller puller;

  Deliveries(
      QueueName queue,
      Context context,
      LeaseKeeper keeper,
      Settler settler,
      Endings endings,
      Puller puller) {
    this.queue = queue;
    this.context = context;
    this.keeper = keeper;
    this.settler = settler;
    this.endings = endings;
    this.puller = puller;
  }

  /** See {@link LeaseKeeper#keepLapsed}. */
  void keepLapsed() {
    keeper.keepLapsed();
  }

  /** One for each job, in order; one whose content cannot be read becomes a dead letter instead. */
  List<Delivery> open(List<ClaimedJob> jobs, ClaimTime time) {
    List<OpenDelivery> open = new ArrayList<>(jobs.size());
    for (ClaimedJob job : jobs) {
      try {
        open.add(
            new OpenDelivery(
                queue,
                job,
                Origins.content(job.record()),
                endings,
                settler,
                keeper,
                context.ticks(),
                time,
                context.options().lease()));
      } catch (CorruptContentException e) {
        puller.bury(job, e);
      }
    }
    keeper.opened(open);
    return List.copyOf(open);
  }
}
