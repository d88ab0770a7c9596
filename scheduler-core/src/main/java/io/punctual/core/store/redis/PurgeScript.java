package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.JobState;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.util.List;
import java.util.Locale;

/** purge.lua: DELAYED or DEAD to gone. */
final class PurgeScript {

  private final ScriptRunner scripts;

  PurgeScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  int run(Bucket bucket, JobState state, List<String> taskIds) {
    if (state != JobState.DELAYED && state != JobState.DEAD) {
      throw new IllegalArgumentException("only DELAYED and DEAD can be purged, not " + state);
    }
    Arguments arguments = new Arguments().add(state.name().toLowerCase(Locale.ROOT));
    taskIds.forEach(arguments::add);
    return scripts.runDurably("purge", bucket, arguments).small(1);
  }
}
