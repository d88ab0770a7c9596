package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.query.BucketUsage;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;

/** usage.lua: jobs and bytes of a bucket, read only. */
final class UsageScript {

  private final ScriptRunner scripts;

  UsageScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  BucketUsage run(Bucket bucket) {
    Reply reply = scripts.run("usage", bucket, new Arguments());
    return new BucketUsage(reply.number(0), reply.number(1));
  }
}
