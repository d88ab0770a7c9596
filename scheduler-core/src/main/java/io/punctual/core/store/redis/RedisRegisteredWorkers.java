package io.punctual.core.store.redis;

import io.punctual.core.store.instance.RegisteredWorkers;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A hash of the workers. */
final class RedisRegisteredWorkers implements RegisteredWorkers {

  private static final String CALL = "workers";
  private static final String PUT = "workers/put";
  private static final String READ = "workers/read";

  private final ScriptRunner scripts;

  RedisRegisteredWorkers(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  @Override
  public Put put(Worker worker, String session, Duration life, Bound own, Bound all) {
    if (life.toMillis() < 1 || life.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("life must be 1 ms to " + LONGEST + ", not " + life);
    }
    return switch (put("register a worker of ", worker, session, life, own, all)) {
      case "created" -> Put.CREATED;
      case "changed" -> Put.CHANGED;
      case "renewed" -> Put.RENEWED;
      case "ended" -> Put.ENDED;
      case "full" -> Put.FULL;
      default -> Put.ALL_FULL;
    };
  }

  @Override
  public boolean remove(String application, String instance, String session, Bound own, Bound all) {
    Worker worker = new Worker(application, instance, "");
    return put("remove a worker of ", worker, session, Duration.ZERO, own, all).equals("removed");
  }

  private String put(
      String what, Worker worker, String session, Duration life, Bound own, Bound all) {
    String prefix = worker.application() + " ";
    return scripts
        .run(
            CALL,
            PUT,
            what + worker.application(),
            scripts.keys().workers(),
            new Arguments()
                .add(prefix + worker.instance())
                .add(prefix)
                .add(session)
                .add(worker.text())
                .add(life.toMillis())
                .add(own.workers())
                .add(own.characters())
                .add(all.workers())
                .add(all.characters()))
        .text(0);
  }

  @Override
  public @Nullable View read(String version) {
    Reply reply =
        scripts.run(
            CALL,
            READ,
            "read the registered workers",
            scripts.keys().workers(),
            new Arguments().add(version));
    String now = reply.text(0);
    if (now.equals(version)) {
      return null;
    }
    List<Worker> workers = new ArrayList<>(reply.size());
    for (int i = 1; i < reply.size(); i++) {
      Reply entry = reply.list(i);
      String[] names = entry.text(0).split(" ", 2);
      if (names.length == 2) {
        workers.add(new Worker(names[0], names[1], entry.text(1)));
      }
    }
    return new View(now, List.copyOf(workers));
  }
}
