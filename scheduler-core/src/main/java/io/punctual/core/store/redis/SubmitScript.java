package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobVersion;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.util.ArrayList;
import java.util.List;

/** submit.lua: nothing to DELAYED. */
final class SubmitScript {

  private final ScriptRunner scripts;

  SubmitScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Submitted run(Bucket bucket, List<Submission> jobs) {
    Arguments arguments =
        new Arguments(2 + 11 * jobs.size())
            .add(scripts.keys().wakeUpChannel())
            .add(Keys.name(bucket));
    for (Submission job : jobs) {
      Due due = job.due();
      arguments
          .add(job.taskId())
          .add(job.incarnation())
          .add(due.relative() ? "in" : "at")
          .add(due.millis())
          .add(job.maxAttempts())
          .add(job.timeToRun())
          .add(Records.field(job.origin().trace()))
          .add(Records.field(job.origin().submitter()))
          .add(Records.tags(job.tags()))
          .add(job.content())
          .add(job.replace());
    }
    Reply reply = scripts.runDurably("submit", bucket, arguments);
    long now = reply.number(0);
    List<Submitted.Item> items = new ArrayList<>(jobs.size());
    for (Reply item : reply.listsFrom(2)) {
      items.add(item(jobs.get(items.size()), now, item));
    }
    return new Submitted(now, items, reply.numberOrNull(1), reply.reached());
  }

  private static Submitted.Item item(Submission job, long now, Reply item) {
    if (item.size() == 1) {
      return new Submitted.Item(
          Submitted.Kind.CREATED,
          job.due().millis() + (job.due().relative() ? now : 0),
          0,
          null,
          new JobVersion(job.incarnation(), 1));
    }
    return new Submitted.Item(
        Submitted.Kind.of(item.text(0)),
        item.number(1),
        item.small(2),
        Records.jobOrNull(item.bytes(3)),
        Records.version(item.number(4), item.text(5)));
  }
}
