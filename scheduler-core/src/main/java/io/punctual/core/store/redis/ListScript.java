package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.JobState;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.JobSnapshot;
import io.punctual.core.store.query.Page;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** list.lua: jobs of one state, read only. */
final class ListScript {

  private final ScriptRunner scripts;

  ListScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Page run(Bucket bucket, JobState state, @Nullable Cursor after, int max) {
    if (state == JobState.FINISHED || state == JobState.CANCELLED) {
      throw new IllegalArgumentException(
          "only DELAYED, RESERVED and DEAD can be listed, not " + state);
    }
    Arguments arguments = new Arguments().add(state.name().toLowerCase(Locale.ROOT)).add(max);
    if (after == null) {
      arguments.add("").add("");
    } else {
      arguments.add(after.score()).add(after.taskId());
    }
    Reply reply = scripts.run("list", bucket, arguments);
    List<JobSnapshot> jobs =
        reply.listsFrom(2).stream().map(job -> Records.snapshot(reply.number(0), job)).toList();
    boolean more = reply.text(1).equals("1");
    return new Page(
        jobs,
        more
            ? new Cursor(jobs.get(jobs.size() - 1).at(), jobs.get(jobs.size() - 1).taskId())
            : null);
  }
}
