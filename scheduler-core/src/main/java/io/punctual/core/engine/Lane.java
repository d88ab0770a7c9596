package io.punctual.core.engine;

import io.punctual.core.queue.Bucket;

/** The duties of one bucket. */
final class Lane {

  final Bucket bucket;
  final Doorbell bell = new Doorbell();
  final LeaseKeeper keeper;
  final Settler settler;
  final Submitter submitter;
  final Finisher finisher;
  final Endings endings;
  final Puller puller;
  final ReceivedMarks received;
  final Deliveries deliveries;
  final Scanner scanner;

  Lane(Bucket bucket, Context context, Room room, QueueListener listener) {
    this.bucket = bucket;
    this.keeper = new LeaseKeeper(bucket, context, listener);
    this.settler = new Settler(bucket, context, keeper, bell, listener);
    this.submitter = new Submitter(bucket, context, bell, listener);
    this.finisher = new Finisher(bucket, context, bell, listener);
    this.endings = new Endings(bucket.queue(), context.options().retry(), context.random().get());
    Claimer claimer = new Claimer(bucket, context, keeper, bell);
    this.puller = new Puller(bucket, claimer, settler, endings, listener);
    this.received = new ReceivedMarks(bucket, context);
    this.deliveries = new Deliveries(bucket.queue(), context, keeper, settler, endings, puller);
    this.scanner =
        new Scanner(bucket, context, room, bell, claimer, deliveries, settler, puller, listener);
  }
}
