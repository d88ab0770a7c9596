package io.punctual.core.runtime;

import io.punctual.core.Dispatcher;
import io.punctual.core.QueueListener;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.pull.Puller;
import io.punctual.core.wake.BucketSignal;
import io.punctual.core.work.Context;
import java.util.List;
import java.util.stream.IntStream;

/** One queue as this engine knows it. */
final class QueueLanes {

  final QueueName queue;
  final List<Lane> lanes;
  final List<Puller> pullers;
  final List<BucketSignal> signals;
  private final Dispatcher dispatcher;

  QueueLanes(QueueName queue, int buckets, Shared shared) {
    Context context = shared.context();
    this.queue = queue;
    QueueListener listener =
        new SafeListener(queue, context.options().listener().of(queue), context.defects());
    this.lanes =
        IntStream.range(0, buckets)
            .mapToObj(index -> new Lane(new Bucket(queue, index), shared, listener))
            .toList();
    this.pullers = lanes.stream().map(lane -> lane.puller).toList();
    this.signals = lanes.stream().map(lane -> new BucketSignal(lane.bucket, lane.signal)).toList();
    this.dispatcher = shared.scan().dispatcher();
  }

  /** Starts the scanners, if they are not; false if the queue is not served here. */
  boolean scan() {
    if (!dispatcher.serves(queue)) {
      return false;
    }
    lanes.forEach(lane -> lane.scanner.start());
    return true;
  }

  /** Drops what is not sent to the store yet. */
  void close() {
    lanes.forEach(Lane::close);
  }

  Lane lane(String taskId) {
    return lanes.get(Bucket.of(queue, taskId, lanes.size()).index());
  }
}
