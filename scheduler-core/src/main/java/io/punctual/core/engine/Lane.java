package io.punctual.core.engine;

import io.punctual.core.queue.Bucket;
import java.util.Random;

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
  final Scanner scanner;

  Lane(Bucket bucket, Context context, Room room) {
    this.bucket = bucket;
    this.keeper = new LeaseKeeper(bucket, context);
    this.settler = new Settler(bucket, context, keeper, bell);
    this.submitter = new Submitter(bucket, context, bell);
    this.finisher = new Finisher(bucket, context, bell);
    this.endings = new Endings(bucket.queue(), context.options().retry(), new Random());
    this.puller = new Puller(bucket, context.jobs(), settler, endings);
    this.scanner = new Scanner(bucket, context, room, bell, keeper, settler, endings, puller);
  }
}
