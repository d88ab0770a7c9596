package io.punctual.core.store;

import io.punctual.CancelResult;
import io.punctual.core.queue.Bucket;
import java.time.Duration;
import java.util.Locale;

/** cancel.lua: DELAYED to gone. */
final class CancelScript {

  private final ScriptRunner scripts;
  private final Duration tombstones;

  CancelScript(ScriptRunner scripts, Duration tombstones) {
    this.scripts = scripts;
    this.tombstones = tombstones;
  }

  CancelResult run(Bucket bucket, String taskId) {
    Reply reply =
        scripts.runDurably(
            "cancel", bucket, new Arguments().add(tombstones.toMillis()).add(taskId));
    String outcome = reply.text(1).toUpperCase(Locale.ROOT).replace('-', '_');
    return new CancelResult(CancelResult.Outcome.valueOf(outcome), reply.small(2));
  }
}
