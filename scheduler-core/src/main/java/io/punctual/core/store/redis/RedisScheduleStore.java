package io.punctual.core.store.redis;

import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.store.ScheduleStore;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** All schedules in one slot. */
final class RedisScheduleStore implements ScheduleStore {

  private static final String CALL = "schedules";

  // A page holds Redis up for no longer than it takes to read so much.
  private static final long MAX_BYTES = 1024 * 1024;

  private final ScriptRunner scripts;
  private final Keys keys;

  RedisScheduleStore(ScriptRunner scripts) {
    this.scripts = scripts;
    this.keys = scripts.keys();
  }

  @Override
  public Found find(ScheduleName name) {
    Reply reply =
        run(
            "find",
            "look at the schedule " + name,
            new Arguments().add(Keys.name(name)).add(Keys.namesOf(name.queue().application())));
    String state = reply.text(2);
    return new Found(
        reply.number(0),
        state.isEmpty() ? null : new Stored(name, reply.bytes(1), state, reply.numberOrNull(3)));
  }

  @Override
  public Due due(int max, Duration claim) {
    Reply reply =
        run(
            "due",
            "take due schedules",
            new Arguments().add(max).add(MAX_BYTES).add(claim.toMillis()));
    return new Due(reply.number(0), reply.numberOrNull(1), stored(reply, 2));
  }

  @Override
  public Page list(
      @Nullable String application, @Nullable String taskType, @Nullable String last, int max) {
    String prefix = application == null ? "" : Keys.namesOf(application);
    String all = taskType == null ? prefix : prefix + Keys.namesOf(taskType);
    if (last != null && (!last.startsWith(all) || last.indexOf(':') < 0)) {
      throw new IllegalArgumentException("the last name is none of this list");
    }
    Reply reply =
        run(
            "list",
            "list schedules",
            new Arguments().add(all).add(last == null ? "" : last).add(max).add(MAX_BYTES));
    String next = reply.text(0);
    return new Page(stored(reply, 1), next.isEmpty() ? null : next);
  }

  @Override
  public Written write(List<Change> changes, int max, boolean durably) {
    Arguments arguments = new Arguments(1 + 6 * changes.size()).add(max);
    for (Change change : changes) {
      byte[] definition = change.definition();
      Long look = change.look();
      arguments
          .add(Keys.name(change.name()))
          .add(Keys.namesOf(change.name().queue().application()))
          .add(text(change.expected()))
          .add(definition == null ? new byte[0] : definition)
          .add(text(change.state()))
          .add(look == null ? "" : Long.toString(look));
    }
    String what =
        changes.size() == 1
            ? "change the schedule " + changes.get(0).name()
            : "change " + changes.size() + " schedules";
    Reply reply =
        durably
            ? scripts.runDurably(
                CALL, CALL + "/write", what, keys.schedulesTag(), keys.schedules(), arguments)
            : run("write", what, arguments);
    return new Written(
        java.util.stream.IntStream.range(0, reply.size())
            .mapToObj(index -> Outcome.valueOf(reply.word(index)))
            .toList(),
        reply.reached());
  }

  @Override
  public int declare(String application, List<ScheduleName> names) {
    Arguments arguments = new Arguments(1 + names.size()).add(Keys.namesOf(application));
    names.forEach(name -> arguments.add(Keys.name(name)));
    return run("declare", "declare the schedules of " + application, arguments).small(0);
  }

  private Reply run(String script, String what, Arguments arguments) {
    return scripts.run(CALL, CALL + "/" + script, what, keys.schedules(), arguments);
  }

  private static String text(@Nullable String text) {
    return text == null ? "" : text;
  }

  /** What has no name of ours is left out. */
  private static List<Stored> stored(Reply reply, int index) {
    return reply.listsFrom(index).stream()
        .flatMap(
            found -> {
              Optional<ScheduleName> name = Keys.parseSchedule(found.text(0));
              return name
                  .map(
                      known ->
                          new Stored(
                              known,
                              found.bytes(1),
                              found.text(2),
                              found.size() > 3 ? found.numberOrNull(3) : null))
                  .stream();
            })
        .toList();
  }
}
