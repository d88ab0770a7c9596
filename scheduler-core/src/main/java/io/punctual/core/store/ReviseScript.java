package io.punctual.core.store;

import io.punctual.core.job.Due;
import io.punctual.core.queue.Bucket;
import java.util.Locale;

/** revise.lua: DELAYED with another due time, other content, or both. */
final class ReviseScript {

  private final ScriptRunner scripts;

  ReviseScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Revised run(Bucket bucket, String taskId, Revision revision) {
    Due due = revision.due();
    Revision.NewContent content = revision.content();
    Revision.Version seen = revision.seen();
    Arguments arguments =
        new Arguments()
            .add(scripts.keys().wakeUpChannel())
            .add(Keys.name(bucket))
            .add(taskId)
            .add(seen == null ? "" : seen.incarnation() + " " + seen.due());
    if (due == null) {
      arguments.add("keep").add(0);
    } else {
      arguments.add(due.relative() ? "in" : "at").add(due.millis());
    }
    if (content == null) {
      arguments.add("").add(1).add(0).add("").add("");
    } else {
      arguments
          .add(content.incarnation())
          .add(content.maxAttempts())
          .add(content.timeToRun())
          .add(Records.tags(content.tags()))
          .add(content.content());
    }
    Reply reply = scripts.runDurably("revise", bucket, arguments);
    String kind = reply.text(1).toUpperCase(Locale.ROOT).replace('-', '_');
    return new Revised(
        Revised.Kind.valueOf(kind), reply.number(2), reply.small(3), reply.numberOrNull(4));
  }
}
