package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.query.Forecast;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;

/** forecast.lua: waiting jobs by due time, read only. */
final class ForecastScript {

  private final ScriptRunner scripts;

  ForecastScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Forecast run(Bucket bucket, Duration width, int intervals) {
    Reply reply =
        scripts.run("forecast", bucket, new Arguments().add(width.toMillis()).add(intervals));
    return new Forecast(
        reply.number(0), reply.number(1), reply.textsFrom(2).stream().map(Long::valueOf).toList());
  }
}
