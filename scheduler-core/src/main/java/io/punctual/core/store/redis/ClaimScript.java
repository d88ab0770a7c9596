package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.store.Claim;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** claim.lua: DELAYED to RESERVED. */
final class ClaimScript {

  private final ScriptRunner scripts;

  ClaimScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  Claim run(
      Bucket bucket,
      int max,
      Duration lease,
      JobStore.ClaimMode mode,
      LeaseToken token,
      String owner) {
    Reply reply =
        scripts.run(
            "claim",
            bucket,
            new Arguments()
                .add(max)
                .add(JobStore.MAX_CLAIMED_BYTES)
                .add(lease.toMillis())
                .add(mode.name().toLowerCase(Locale.ROOT))
                .add(token.value())
                .add(owner));
    List<ClaimedJob> jobs =
        reply.listsFrom(6).stream()
            .map(
                job ->
                    new ClaimedJob(
                        job.text(0),
                        job.number(1),
                        job.small(2),
                        Records.job(job.bytes(3)),
                        Records.tries(job.text(4)),
                        token))
            .toList();
    return new Claim(
        reply.number(0),
        jobs,
        reply.list(5).textsFrom(0),
        reply.numberOrNull(1),
        reply.numberOrNull(2),
        reply.numberOrNull(3),
        reply.small(4) == 1);
  }
}
