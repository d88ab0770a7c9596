package io.punctual.core.store;

import io.punctual.core.queue.Bucket;

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
