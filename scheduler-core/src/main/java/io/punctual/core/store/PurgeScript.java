package io.punctual.core.store;

import io.punctual.core.job.JobState;
import io.punctual.core.queue.Bucket;
import java.util.List;
import java.util.Locale;

/** purge.lua: DELAYED or DEAD to gone. */
final class PurgeScript {

  private final ScriptRunner scripts;

  PurgeScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  int run(Bucket bucket, JobState state, List<String> taskIds) {
    Arguments arguments = arguments(state, 0, 0);
    taskIds.forEach(arguments::add);
    return scripts.runDurably("purge", bucket, arguments).small(1);
  }

  int runOldest(Bucket bucket, JobState state, long before, int max) {
    return scripts.runDurably("purge", bucket, arguments(state, max, before)).small(1);
  }

  private static Arguments arguments(JobState state, int oldest, long before) {
    if (state != JobState.DELAYED && state != JobState.DEAD) {
      throw new IllegalArgumentException("only DELAYED and DEAD can be purged, not " + state);
    }
    return new Arguments().add(state.name().toLowerCase(Locale.ROOT)).add(oldest).add(before);
  }
}
