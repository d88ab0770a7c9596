package io.punctual.core.store;

import io.punctual.RescheduleResult;
import io.punctual.core.job.Due;
import io.punctual.core.queue.Bucket;
import java.time.Instant;
import java.util.Locale;

/** reschedule.lua: DELAYED to another due time. */
final class RescheduleScript {

  private final ScriptRunner scripts;

  RescheduleScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Rescheduled run(Bucket bucket, String taskId, Due due) {
    Reply reply =
        scripts.run(
            "reschedule",
            bucket,
            new Arguments()
                .add(scripts.keys().wakeUpChannel())
                .add(Keys.name(bucket))
                .add(taskId)
                .add(due.relative() ? "in" : "at")
                .add(due.millis()));
    RescheduleResult.Outcome outcome =
        RescheduleResult.Outcome.valueOf(reply.text(1).toUpperCase(Locale.ROOT).replace('-', '_'));
    return new Rescheduled(
        new RescheduleResult(
            outcome,
            outcome == RescheduleResult.Outcome.RESCHEDULED
                ? Instant.ofEpochMilli(reply.number(2))
                : null,
            reply.small(3)),
        reply.numberOrNull(4));
  }
}
