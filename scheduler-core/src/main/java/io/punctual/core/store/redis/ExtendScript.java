package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.Lease;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** extend.lua: RESERVED for longer. */
final class ExtendScript {

  private final ScriptRunner scripts;

  ExtendScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Set<String> run(Bucket bucket, List<Lease> leases, Duration lease) {
    Arguments arguments = new Arguments().add(lease.toMillis());
    for (Lease held : leases) {
      arguments.add(held.taskId()).add(held.token().value());
    }
    Reply reply = scripts.run("extend", bucket, arguments);
    Set<String> lost = new HashSet<>();
    for (int i = 0; i < leases.size(); i++) {
      if (reply.text(i + 1).equals("0")) {
        lost.add(leases.get(i).taskId());
      }
    }
    return lost;
  }
}
