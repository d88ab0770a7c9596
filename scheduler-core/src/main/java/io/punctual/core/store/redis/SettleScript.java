package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** settle.lua: RESERVED to finished, DELAYED or DEAD. */
final class SettleScript {

  private final ScriptRunner scripts;
  private final Duration tombstones;

  SettleScript(ScriptRunner scripts, Duration tombstones) {
    this.scripts = scripts;
    this.tombstones = tombstones;
  }

  List<Settled> run(Bucket bucket, List<Settlement> settlements) {
    Arguments arguments =
        new Arguments()
            .add(tombstones.toMillis())
            .add(scripts.keys().wakeUpChannel())
            .add(Keys.name(bucket));
    for (Settlement settlement : settlements) {
      arguments
          .add(settlement.op().name().toLowerCase(Locale.ROOT))
          .add(settlement.taskId())
          .add(settlement.incarnation())
          .add(settlement.token().value())
          .add(settlement.delay().toMillis())
          .add(settlement.alone())
          .add(settlement.note());
    }
    return scripts.runEnds("settle", bucket, arguments).listsFrom(1).stream()
        .map(
            item ->
                new Settled(
                    Settled.Kind.valueOf(item.text(0).toUpperCase(Locale.ROOT)), item.number(1)))
        .toList();
  }
}
