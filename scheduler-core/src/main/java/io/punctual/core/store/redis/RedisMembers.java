package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Members;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.RedisCalls;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** A hash of the members, and messages on the wake-up channel. */
final class RedisMembers implements Members {

  private static final String CALL = "members";
  private static final String BEAT = "members/beat";
  private static final String ALL = "*";

  private final ScriptRunner scripts;
  private final Keys keys;
  private final RedisCalls calls;
  // What members serve hardly ever changes; it is read once.
  private volatile Map<String, Member> known = Map.of();

  RedisMembers(RedisConnectionFactory connections, ScriptRunner scripts, StoreCalls calls) {
    this.scripts = scripts;
    this.keys = scripts.keys();
    this.calls = new RedisCalls(connections, calls, CALL);
  }

  @Override
  public Others beat(Member member, Duration life) {
    Reply reply = run("send the heartbeat", member, life);
    Map<String, Member> before = known;
    Map<String, Member> now = new HashMap<>();
    List<Member> others = new ArrayList<>();
    Duration firstEnd = null;
    for (int i = 1; i < reply.size(); i++) {
      Reply other = reply.list(i);
      String entry = other.text(0) + " " + other.text(2) + " " + other.text(3);
      Member found = before.get(entry);
      if (found == null) {
        found = new Member(other.text(0), other.text(2), queues(other.text(3)));
      }
      now.put(entry, found);
      others.add(found);
      Duration left = Duration.ofMillis(other.number(1));
      firstEnd = firstEnd == null || left.compareTo(firstEnd) < 0 ? left : firstEnd;
    }
    others.sort(Comparator.comparing(Member::name));
    known = now;
    return new Others(others, firstEnd);
  }

  @Override
  public void leave(Member member) {
    var unused = run("leave the members", member, Duration.ZERO);
  }

  private Reply run(String what, Member member, Duration life) {
    Arguments arguments =
        new Arguments()
            .add(keys.wakeUpChannel())
            .add(member.name())
            .add(life.toMillis())
            .add(member.version())
            .add(text(member.serves()));
    return scripts.run(CALL, BEAT, what, keys.members(), arguments);
  }

  @Override
  public void offer(Bucket bucket, long due) {
    var unused =
        calls.make(
            "offer jobs of " + bucket,
            connection ->
                connection.publish(
                    keys.wakeUpChannel(),
                    Keys.bytes(Keys.name(bucket) + " " + due + " " + RedisWakeUps.OFFERED)));
  }

  private static String text(@Nullable Set<QueueName> queues) {
    return queues == null
        ? ALL
        : queues.stream().map(Keys::name).sorted().collect(Collectors.joining(" "));
  }

  private static @Nullable Set<QueueName> queues(String text) {
    return text.equals(ALL)
        ? null
        : Stream.of(text.split(" "))
            .map(Keys::parseQueue)
            .flatMap(Optional::stream)
            .collect(Collectors.toUnmodifiableSet());
  }
}
