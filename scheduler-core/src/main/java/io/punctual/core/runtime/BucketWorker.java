package io.punctual.core.runtime;

import io.punctual.core.QueueListener;
import io.punctual.core.deliver.Claimer;
import io.punctual.core.deliver.LeaseKeeper;
import io.punctual.core.deliver.RetryDelays;
import io.punctual.core.deliver.Settler;
import io.punctual.core.job.Bucket;
import io.punctual.core.pull.Puller;
import io.punctual.core.scan.ScanLoop;
import io.punctual.core.scan.Scanner;
import io.punctual.core.submit.Submitter;
import io.punctual.core.wake.Capacity;
import io.punctual.core.wake.StoreClock;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Context;
import java.util.List;

/** The duties of one bucket. */
final class BucketWorker {

  final Bucket bucket;
  final WakeSignal signal = new WakeSignal();
  final LeaseKeeper keeper;
  final Settler settler;
  final Submitter submitter;
  final RetryDelays retryDelays;
  final Claimer claimer;
  final Puller puller;
  final Scanner scanner;
  final ScanLoop loop;

  BucketWorker(Bucket bucket, Shared shared, QueueListener listener) {
    this.bucket = bucket;
    Context context = shared.context();
    Capacity.Claimer capacity = shared.capacity().claimer(bucket, signal);
    this.keeper = new LeaseKeeper(bucket, context, shared.inFlight(), capacity, listener);
    this.settler = new Settler(bucket, context, keeper, capacity, signal, listener);
    StoreClock clock = new StoreClock(context.ticks(), () -> context.jobs().stats(bucket).now());
    this.submitter =
        new Submitter(bucket, context, shared.admission(), clock, shared.times(), signal, listener);
    this.retryDelays =
        new RetryDelays(
            bucket.queue(),
            context.options().retry(),
            shared.random().get(),
            clock,
            shared.times());
    this.claimer =
        new Claimer(
            bucket,
            context,
            keeper,
            settler,
            retryDelays,
            clock,
            shared.times(),
            capacity,
            signal,
            listener);
    this.puller = new Puller(bucket, context, signal, claimer, settler, retryDelays, listener);
    this.scanner = new Scanner(bucket, shared.scan(), capacity, signal, claimer, puller, listener);
    this.loop = new ScanLoop(bucket, scanner, signal, shared.scan());
  }

  /**
   * Adds a line for each kind of work that is still open.
   *
   * @param found remains as it is when the bucket is at rest
   */
  void addInUse(List<String> found) {
    addTo(found, "open deliveries", keeper.open().size());
    addTo(found, "deferrals", keeper.deferrals());
    addTo(found, "ends to be written", settler.size());
    addTo(found, "submissions", submitter.size());
    addTo(found, "marks of pulls", puller.received().size());
    addTo(found, "unanswered claims", claimer.unanswered());
  }

  private void addTo(List<String> found, String what, int count) {
    if (count != 0) {
      found.add(bucket + " " + what + ": " + count);
    }
  }

  /** Drops what is not sent to the store yet. */
  void close() {
    submitter.close();
    settler.close();
    keeper.close();
    claimer.close();
  }
}
