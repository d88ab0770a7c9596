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
final class QueueWorkers {

  final QueueName queue;
  final List<BucketWorker> workers;
  final List<Puller> pullers;
  final List<BucketSignal> signals;
  private final Dispatcher dispatcher;

  QueueWorkers(QueueName queue, int buckets, Shared shared) {
    Context context = shared.context();
    this.queue = queue;
    QueueListener listener =
        new SafeListener(queue, context.options().listener().of(queue), context.defects());
    this.workers =
        IntStream.range(0, buckets)
            .mapToObj(index -> new BucketWorker(new Bucket(queue, index), shared, listener))
            .toList();
    this.pullers = workers.stream().map(worker -> worker.puller).toList();
    this.signals =
        workers.stream().map(worker -> new BucketSignal(worker.bucket, worker.signal)).toList();
    this.dispatcher = shared.scan().dispatcher();
  }

  /** Starts the scanners, if they are not; false if the queue is not served here. */
  boolean scan() {
    if (!dispatcher.serves(queue)) {
      return false;
    }
    workers.forEach(worker -> worker.loop.start());
    return true;
  }

  /** Whether the queue is served here. */
  boolean isScanned() {
    return workers.get(0).loop.isStarted();
  }

  /** Drops what is not sent to the store yet. */
  void close() {
    workers.forEach(BucketWorker::close);
  }

  BucketWorker worker(String taskId) {
    return workers.get(Bucket.of(queue, taskId, workers.size()).index());
  }
}
