package io.punctual.core.engine;

import io.punctual.core.queue.Bucket;

/** The duties of one bucket. */
final class Lane {

  final Bucket bucket;
  final Doorbell bell = new Doorbell();
  final LeaseKeeper keeper;
  final Settler settler;
  final Submitter submitter;
  final Scanner scanner;

  Lane(Bucket bucket, Context context, Room room) {
    this.bucket = bucket;
    this.keeper = new LeaseKeeper(bucket, context);
    this.settler = new Settler(bucket, context, keeper, bell);
    this.submitter = new Submitter(bucket, context, bell);
    this.scanner = new Scanner(bucket, context, room, bell, keeper, settler);
  }
}
