package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.query.BucketStats;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** stats.lua: counts, read only. */
final class StatsScript {

  private static final Pattern NUMBER = Pattern.compile("[1-9]\\d{0,17}");
  private static final Pattern RATE = Pattern.compile("([1-9]\\d{0,17}) ([1-9]\\d{0,17})");

  private final ScriptRunner scripts;

  StatsScript(ScriptRunner scripts) {
    this.scripts = scripts;
  }

  BucketStats run(Bucket bucket) {
    Reply reply = scripts.run("stats", bucket, new Arguments());
    List<String> pairs = reply.list(10).textsFrom(0);
    Map<String, Long> counters = new TreeMap<>();
    for (int i = 0; i < pairs.size(); i += 2) {
      counters.put(pairs.get(i), Long.valueOf(pairs.get(i + 1)));
    }
    return new BucketStats(
        reply.number(0),
        reply.number(1),
        reply.number(2),
        reply.number(3),
        reply.number(4),
        reply.numberOrNull(5),
        reply.numberOrNull(6),
        reply.numberOrNull(7),
        throttle(reply.text(8), reply.text(9)),
        counters);
  }

  // As in claim.lua, a text that is not of its form counts as none; what somebody else made greater
  // than can be set is shown as the greatest that can.
  private static Throttle throttle(String concurrency, String rate) {
    Matcher parts = RATE.matcher(rate);
    return new Throttle(
        NUMBER.matcher(concurrency).matches() ? Integer.valueOf(most(concurrency)) : null,
        parts.matches()
            ? new Throttle.Rate(
                most(parts.group(1)),
                Duration.ofMillis(
                    Math.min(
                        Long.parseLong(parts.group(2)), Throttle.Rate.LONGEST_OF_PART.toMillis())))
            : null);
  }

  private static int most(String number) {
    return (int) Math.min(Long.parseLong(number), Throttle.MOST);
  }
}
