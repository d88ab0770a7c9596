package io.punctual.core.store;

import io.punctual.core.queue.Bucket;

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
