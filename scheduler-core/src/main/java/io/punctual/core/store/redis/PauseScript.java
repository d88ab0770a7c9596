package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.Paused;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;

/** pause.lua: holds a bucket back, or lets it go. */
final class PauseScript {

  private final ScriptRunner scripts;

  PauseScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Paused run(Bucket bucket, boolean paused) {
    Reply reply =
        scripts.runDurably(
            "pause",
            bucket,
            new Arguments().add(scripts.keys().wakeUpChannel()).add(Keys.name(bucket)).add(paused));
    return new Paused(reply.numberOrNull(1), reply.numberOrNull(2));
  }
}
