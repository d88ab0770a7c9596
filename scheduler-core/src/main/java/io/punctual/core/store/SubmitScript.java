package io.punctual.core.store;

import io.punctual.core.job.Due;
import io.punctual.core.queue.Bucket;
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
        new Arguments(2 + 9 * jobs.size())
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
          .add(Records.tags(job.tags()))
          .add(job.content())
          .add(job.replace());
    }
    Reply reply = scripts.runDurably("submit", bucket, arguments);
    long now = reply.number(0);
    List<Submitted.Item> items = new ArrayList<>(jobs.size());
    for (Reply item : reply.listsFrom(2)) {
      Due asked = jobs.get(items.size()).due();
      Long at = item.numberOrNull(1);
      items.add(
          new Submitted.Item(
              Submitted.Kind.of(item.text(0)),
              at != null ? at : asked.millis() + (asked.relative() ? now : 0),
              item.small(2),
              Records.jobOrNull(item.bytes(3))));
    }
    return new Submitted(now, items, reply.numberOrNull(1));
  }
}
