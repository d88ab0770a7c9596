package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.ScriptRunner;
import org.jspecify.annotations.Nullable;

/** limit.lua: how many jobs of a bucket may be out. */
final class LimitScript {

  private final ScriptRunner scripts;

  LimitScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  @Nullable Long run(Bucket bucket, Throttle throttle) {
    Integer concurrency = throttle.concurrency();
    Throttle.Rate rate = throttle.rate();
    return scripts
        .runDurably(
            "limit",
            bucket,
            new Arguments()
                .add(scripts.keys().wakeUpChannel())
                .add(Keys.name(bucket))
                .add(concurrency == null ? "" : concurrency.toString())
                .add(rate == null ? "" : rate.jobs() + " " + rate.period().toMillis()))
        .numberOrNull(1);
  }
}
