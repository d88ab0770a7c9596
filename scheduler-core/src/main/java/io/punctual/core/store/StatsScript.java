package io.punctual.core.store;

import io.punctual.core.queue.Bucket;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** stats.lua: counts, read only. */
final class StatsScript {

  private final ScriptRunner scripts;

  StatsScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  BucketStats run(Bucket bucket) {
    Reply reply = scripts.run("stats", bucket, new Arguments());
    List<String> pairs = reply.list(8).textsFrom(0);
    Map<String, Long> counters = new TreeMap<>();
    for (int i = 0; i < pairs.size(); i += 2) {
      counters.put(pairs.get(i), Long.valueOf(pairs.get(i + 1)));
    }
    return new BucketStats(
        reply.number(0),
        reply.number(1),
        reply.number(2),
        reply.number(3),
        reply.number(4),
        reply.numberOrNull(5),
        reply.numberOrNull(6),
        reply.numberOrNull(7),
        counters);
  }
}
