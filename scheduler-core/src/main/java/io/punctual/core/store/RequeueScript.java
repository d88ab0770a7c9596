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
    Arguments arguments =
        new Arguments()
            .add(scripts.keys().wakeUpChannel())
            .add(Keys.name(bucket))
            .add(delay.toMillis());
    taskIds.forEach(arguments::add);
    Reply reply = scripts.runDurably("requeue", bucket, arguments);
    return new Requeued(reply.textsFrom(2), reply.numberOrNull(1));
  }
}
