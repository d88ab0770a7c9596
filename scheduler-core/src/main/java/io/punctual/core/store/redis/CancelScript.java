package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.JobVersion;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** cancel.lua: DELAYED to gone. */
final class CancelScript {

  private final ScriptRunner scripts;
  private final Duration tombstones;

  CancelScript(ScriptRunner scripts, Duration tombstones) {
    this.scripts = scripts;
    this.tombstones = tombstones;
  }

  Cancelled run(Bucket bucket, String taskId, @Nullable JobVersion seen) {
    Reply reply =
        scripts.runDurably(
            "cancel",
            bucket,
            new Arguments().add(tombstones.toMillis()).add(taskId).add(Records.version(seen)));
    return new Cancelled(
        Cancelled.Kind.valueOf(reply.word(1)), reply.small(2), reply.number(3), reply.reached());
  }
}
