package io.punctual.core.store;

import io.punctual.core.queue.Bucket;
import java.time.Duration;
import java.util.List;

/** requeue.lua: DEAD to DELAYED. */
final class RequeueScript {

  private final ScriptRunner scripts;

  RequeueScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Requeued run(Bucket bucket, List<String> taskIds, Duration delay) {
    Arguments arguments = arguments(bucket, delay, 0);
    taskIds.forEach(arguments::add);
    return run(bucket, arguments);
  }

  Requeued runOldest(Bucket bucket, int max, Duration delay) {
    return run(bucket, arguments(bucket, delay, max));
  }

  private Arguments arguments(Bucket bucket, Duration delay, int oldest) {
    return new Arguments()
        .add(scripts.keys().wakeUpChannel())
        .add(Keys.name(bucket))
        .add(delay.toMillis())
        .add(oldest);
  }

  private Requeued run(Bucket bucket, Arguments arguments) {
    Reply reply = scripts.runDurably("requeue", bucket, arguments);
    return new Requeued(reply.textsFrom(2), reply.numberOrNull(1));
  }
}
