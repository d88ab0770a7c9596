package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.store.Revised;
import io.punctual.core.store.Revision;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;

/** revise.lua: DELAYED with another due time, other content, or both. */
final class ReviseScript {

  private final ScriptRunner scripts;

  ReviseScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Revised run(Bucket bucket, String taskId, Revision revision) {
    Due due = revision.due();
    Revision.NewContent content = revision.content();
    Arguments arguments =
        new Arguments()
            .add(scripts.keys().wakeUpChannel())
            .add(Keys.name(bucket))
            .add(taskId)
            .add(Records.version(revision.seen()));
    if (due == null) {
      arguments.add("keep").add(0);
    } else {
      arguments.add(due.relative() ? "in" : "at").add(due.millis());
    }
    if (content == null) {
      arguments.add("").add(1).add(0).add("-").add("-").add("").add("");
    } else {
      arguments
          .add(content.incarnation())
          .add(content.maxAttempts())
          .add(content.timeToRun())
          .add(Records.field(content.origin().trace()))
          .add(Records.field(content.origin().submitter()))
          .add(Records.tags(content.tags()))
          .add(content.content());
    }
    Reply reply = scripts.runDurably("revise", bucket, arguments);
    return new Revised(
        Revised.Kind.valueOf(reply.word(1)),
        reply.number(2),
        reply.small(3),
        Records.version(reply.number(5), reply.text(6)),
        reply.numberOrNull(4),
        reply.reached());
  }
}
