package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.query.JobSnapshot;
import io.punctual.core.store.query.Tagged;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** tagged.lua: jobs with a tag, read only. */
final class TaggedScript {

  private final ScriptRunner scripts;

  TaggedScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Tagged run(Bucket bucket, String tag, @Nullable String after, int max) {
    Reply reply =
        scripts.run(
            "tagged", bucket, new Arguments().add(tag).add(max).add(after == null ? "" : after));
    List<JobSnapshot> jobs =
        reply.listsFrom(2).stream().map(job -> Records.snapshot(reply.number(0), job)).toList();
    String next = reply.text(1);
    return new Tagged(jobs, next.isEmpty() ? null : next);
  }
}
