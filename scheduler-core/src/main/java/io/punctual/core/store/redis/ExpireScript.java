package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.ClockJump;
import io.punctual.core.store.Expired;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;

/** expire.lua: RESERVED whose lease ran out, to DELAYED or DEAD. */
final class ExpireScript {

  private final ScriptRunner scripts;

  ExpireScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Expired run(Bucket bucket, int max, long until, ClockJump jump) {
    Reply reply =
        scripts.run(
            "expire",
            bucket,
            new Arguments()
                .add(max)
                .add(scripts.keys().wakeUpChannel())
                .add(Keys.name(bucket))
                .add(until == Long.MAX_VALUE ? "" : Long.toString(until))
                .add(jump.before())
                .add(jump.millis()));
    return new Expired(reply.number(0), reply.small(1), reply.small(2), reply.numberOrNull(3));
  }
}
