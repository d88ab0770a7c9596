package io.punctual.test.model;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.queue.Bucket;
import io.punctual.core.store.Cursor;
import io.punctual.core.store.Lease;
import io.punctual.core.store.LeaseToken;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submission;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Makes random histories from a seed. Few ids, so that calls meet; tokens and incarnations are
 * mostly the latest ones and sometimes stale; every call is sometimes repeated, as after a lost
 * answer.
 */
final class HistoryGenerator {

  static final long START = 1_000_000;
  private static final List<Settlement.Op> OPS = List.of(Settlement.Op.values());
  private static final String[] IDS = {"a", "b", "c", "d", "e", "a1", "Z"};

  private final Bucket bucket;
  private final Random random;
  private final List<String> incarnations = new ArrayList<>();
  private final List<String> tokens = new ArrayList<>();
  private final List<String[]> submitted = new ArrayList<>();

  HistoryGenerator(Bucket bucket, long seed) {
    this.bucket = bucket;
    this.random = new Random(seed);
  }

  List<Step> history() {
    List<Step> steps = new ArrayList<>();
    int length = 20 + random.nextInt(40);
    while (steps.size() < length) {
      Step step = step();
      steps.add(step);
      if (step.call() != null && random.nextInt(5) == 0) {
        steps.add(step);
      }
    }
    return steps;
  }

  private Step step() {
    int dice = random.nextInt(100);
    if (dice < 14) {
      return wait(random.nextInt(10));
    } else if (dice < 32) {
      return submit();
    } else if (dice < 48) {
      return claim();
    } else if (dice < 68) {
      return settle();
    } else if (dice < 73) {
      return extend();
    } else if (dice < 79) {
      int max = 1 + random.nextInt(4);
      return Step.call("expire " + max, store -> store.expire(bucket, max));
    } else if (dice < 83) {
      String id = id();
      return Step.call("cancel " + id, store -> store.cancel(bucket, id));
    } else if (dice < 87) {
      String id = id();
      Due due = due();
      return Step.call("reschedule " + id + " " + due, store -> store.reschedule(bucket, id, due));
    } else if (dice < 90) {
      return requeue();
    } else if (dice < 92) {
      return purge();
    } else if (dice < 93) {
      return Step.lose(id());
    } else if (dice < 95) {
      String id = id();
      return Step.call("find " + id, store -> store.find(bucket, id));
    } else if (dice < 98) {
      return list();
    }
    return Step.call("stats", store -> store.stats(bucket));
  }

  private Step wait(int dice) {
    if (dice < 5) {
      return Step.pause(1 + random.nextInt(20));
    }
    // Longer than a lease; or longer than the life of a tombstone.
    return Step.pause(dice < 8 ? 50 + random.nextInt(150) : 900 + random.nextInt(300));
  }

  private String id() {
    return IDS[random.nextInt(IDS.length)];
  }

  private Due due() {
    return random.nextBoolean()
        ? Due.in(random.nextInt(4) == 0 ? 0 : random.nextInt(120))
        : Due.at(START + random.nextInt(1000));
  }

  private Step submit() {
    List<Submission> jobs = new ArrayList<>();
    int count = random.nextInt(4) == 0 ? 2 + random.nextInt(4) : 1;
    for (int i = 0; i < count; i++) {
      String incarnation = "i" + incarnations.size();
      incarnations.add(incarnation);
      String id = id();
      submitted.add(new String[] {id, incarnation});
      jobs.add(
          new Submission(
              id,
              incarnation,
              due(),
              1 + random.nextInt(3),
              ("content " + random.nextInt(3)).getBytes(StandardCharsets.UTF_8),
              random.nextInt(3) == 0));
    }
    return Step.call("submit " + Shown.text(jobs), store -> store.submit(bucket, jobs));
  }

  private Step claim() {
    LeaseToken token = new LeaseToken("t" + tokens.size());
    tokens.add(token.value());
    int max = 1 + random.nextInt(5);
    Duration lease = Duration.ofMillis(20 + random.nextInt(100));
    String owner = "owner" + random.nextInt(2);
    return Step.call(
        "claim " + max + " for " + lease + " as " + token,
        store -> store.claim(bucket, max, lease, token, owner));
  }

  private Step settle() {
    List<Settlement> settlements = new ArrayList<>();
    int count = random.nextInt(3) == 0 ? 2 + random.nextInt(4) : 1;
    for (int i = 0; i < count; i++) {
      Settlement.Op op = OPS.get(random.nextInt(OPS.size()));
      String[] job = recent(submitted);
      String id = job == null || random.nextInt(8) == 0 ? id() : job[0];
      String incarnation = job == null || random.nextInt(8) == 0 ? "i0" : job[1];
      boolean plain = op == Settlement.Op.ACK || op == Settlement.Op.RELEASE;
      settlements.add(
          new Settlement(
              op,
              id,
              incarnation,
              token(),
              Duration.ofMillis(random.nextInt(60)),
              random.nextBoolean(),
              (plain ? "" : "note " + random.nextInt(9)).getBytes(StandardCharsets.UTF_8)));
    }
    return Step.call(
        "settle " + Shown.text(settlements), store -> store.settle(bucket, settlements));
  }

  private Step extend() {
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(3); i++) {
      leases.add(new Lease(id(), token()));
    }
    Duration lease = Duration.ofMillis(10 + random.nextInt(150));
    return Step.call(
        "extend " + leases + " for " + lease, store -> store.extend(bucket, leases, lease));
  }

  private Step requeue() {
    Duration delay = Duration.ofMillis(random.nextInt(50));
    if (random.nextBoolean()) {
      int max = 1 + random.nextInt(3);
      return Step.call(
          "requeue the oldest " + max + " in " + delay,
          store -> store.requeueOldest(bucket, max, delay));
    }
    List<String> ids = ids();
    return Step.call("requeue " + ids + " in " + delay, store -> store.requeue(bucket, ids, delay));
  }

  private Step purge() {
    JobState state = random.nextBoolean() ? JobState.DEAD : JobState.DELAYED;
    if (random.nextBoolean()) {
      int max = 1 + random.nextInt(3);
      long before = START + random.nextInt(1500);
      return Step.call(
          "purge the earliest " + max + " " + state + " up to " + before,
          store -> store.purgeOldest(bucket, state, before, max));
    }
    List<String> ids = ids();
    return Step.call("purge " + state + " " + ids, store -> store.purge(bucket, state, ids));
  }

  private Step list() {
    JobState[] states = {JobState.DELAYED, JobState.RESERVED, JobState.DEAD};
    JobState state = states[random.nextInt(states.length)];
    int max = 1 + random.nextInt(3);
    Cursor after = random.nextInt(3) == 0 ? null : new Cursor(START + random.nextInt(300), id());
    return Step.call(
        "list " + state + " behind " + after + " at most " + max,
        store -> store.list(bucket, state, after, max));
  }

  private List<String> ids() {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(3); i++) {
      ids.add(id());
    }
    return ids;
  }

  private LeaseToken token() {
    String token = recent(tokens);
    return new LeaseToken(token == null ? "none" : token);
  }

  /** Mostly one of the last few. */
  private <T> @Nullable T recent(List<T> all) {
    if (all.isEmpty()) {
      return null;
    }
    int back = random.nextInt(5) == 0 ? random.nextInt(all.size()) : random.nextInt(3);
    return all.get(Math.max(0, all.size() - 1 - back));
  }
}
