package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.query.JobSnapshot;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.util.Optional;

/** find.lua: one job, read only. */
final class FindScript {

  private final ScriptRunner scripts;

  FindScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Optional<JobSnapshot> run(Bucket bucket, String taskId) {
    Reply reply = scripts.run("find", bucket, new Arguments().add(taskId));
    return reply.size() == 1
        ? Optional.empty()
        : Optional.of(Records.snapshot(reply.number(0), reply.list(1)));
  }
}
