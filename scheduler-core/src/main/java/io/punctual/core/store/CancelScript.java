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

  Cancelled run(Bucket bucket, String taskId) {
    Reply reply =
        scripts.runDurably(
            "cancel", bucket, new Arguments().add(tombstones.toMillis()).add(taskId));
    String outcome = reply.text(1).toUpperCase(Locale.ROOT).replace('-', '_');
    String incarnation = reply.text(3);
    return new Cancelled(
        new CancelResult(CancelResult.Outcome.valueOf(outcome), reply.small(2)),
        reply.number(0),
        incarnation.isEmpty() ? null : incarnation);
  }
}
