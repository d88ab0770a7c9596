package io.punctual.core.store;

import io.punctual.core.queue.Bucket;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** restore.lua: what was forgotten, back to where it was. */
final class RestoreScript {

  private final ScriptRunner scripts;
  private final Duration tombstones;

  RestoreScript(ScriptRunner scripts, Duration tombstones) {
    this.scripts = scripts;
    this.tombstones = tombstones;
  }

  Restored run(Bucket bucket, List<Restoration> restorations) {
    Arguments arguments =
        new Arguments()
            .add(scripts.keys().wakeUpChannel())
            .add(Keys.name(bucket))
            .add(tombstones.toMillis());
    for (Restoration restoration : restorations) {
      JobRecord job = restoration.job();
      arguments
          .add(restoration.kind().name().toLowerCase(Locale.ROOT))
          .add(restoration.taskId())
          .add(restoration.incarnation())
          .add(restoration.at());
      if (job == null) {
        arguments.add(0).add(0).add(0).add("").add("");
      } else {
        arguments
            .add(job.acceptedAt())
            .add(job.maxAttempts())
            .add(job.timeToRun())
            .add(Records.tags(job.tags()))
            .add(job.content());
      }
    }
    Reply reply = scripts.run("restore", bucket, arguments);
    return new Restored(
        reply.textsFrom(2).stream()
            .map(kind -> Restored.Kind.valueOf(kind.toUpperCase(Locale.ROOT)))
            .toList(),
        reply.numberOrNull(1));
  }
}
