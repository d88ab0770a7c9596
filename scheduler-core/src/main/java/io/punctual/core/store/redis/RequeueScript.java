package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;
import java.util.List;

/** requeue.lua: DEAD to DELAYED. */
final class RequeueScript {

  private final ScriptRunner scripts;

  RequeueScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Requeued run(Bucket bucket, List<Requeue> jobs, Duration delay) {
    Arguments arguments =
        new Arguments()
            .add(scripts.keys().wakeUpChannel())
            .add(Keys.name(bucket))
            .add(delay.toMillis());
    jobs.forEach(job -> arguments.add(job.taskId()).add(Records.version(job.seen())));
    Reply reply = scripts.runDurably("requeue", bucket, arguments);
    return new Requeued(
        reply.listsFrom(2).stream()
            .map(
                item ->
                    new Requeued.Item(
                        Requeued.Kind.valueOf(item.word(0)),
                        Records.version(item.number(1), item.text(2)),
                        reply.reached()))
            .toList(),
        reply.numberOrNull(1));
  }
}
