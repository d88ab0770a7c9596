package io.punctual.test.model;

import io.punctual.conflict.OnConflict;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.Ending;
import io.punctual.core.job.IndexTags;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Opening;
import io.punctual.core.job.Origin;
import io.punctual.core.job.Pause;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.ClockJump;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Revision;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submission;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.query.Page;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Makes random histories from a seed. Few ids, so that calls meet; tokens and incarnations are
 * mostly the latest ones and sometimes stale; every call is sometimes repeated, as after a lost
 * answer.
 */
final class HistoryGenerator {

  static final long START = 1_000_000;
  private static final List<Settlement.Op> OPS = List.of(Settlement.Op.values());
  private static final String[] IDS = {"a", "b", "c", "d", "e", "a1", "Z", "s@1"};

  private final Bucket bucket;
  private final Random random;
  private final List<String> incarnations = new ArrayList<>();
  private final List<String> tokens = new ArrayList<>();
  private final List<String[]> submitted = new ArrayList<>();
  private final Map<String, JobRecord> records = new HashMap<>();
  private final Settlement.Op favourite;
  private final int attempts;

  HistoryGenerator(Bucket bucket, long seed) {
    this.bucket = bucket;
    this.random = new Random(seed);
    this.favourite = OPS.get(random.nextInt(OPS.size()));
    this.attempts = 1 + random.nextInt(3);
  }

  List<Step> history() {
    List<Step> steps = new ArrayList<>();
    int length = 20 + random.nextInt(40);
    while (steps.size() < length) {
      if (random.nextInt(12) == 0) {
        steps.addAll(scenario());
      }
      Step step = step();
      steps.add(step);
      if (step.call() != null && random.nextInt(5) == 0) {
        steps.add(step);
      }
    }
    return steps;
  }

  /** A job that cannot start in time, waiting or claimed, in a queue that may drop such jobs. */
  private List<Step> late(
      String id, String incarnation, LeaseToken token, Step submit, Step claim) {
    boolean drop = random.nextBoolean();
    Step drops = Step.call("drop expired " + drop, s -> dropExpired(s, drop));
    Step lapse = Step.call("lapse 3", s -> s.lapse(bucket, 3));
    Step find = Step.call("find " + id, s -> s.find(bucket, id));
    return switch (random.nextInt(3)) {
      case 0 -> List.of(drops, submit, lapse, find, lapse);
      case 1 ->
          List.of(
              drops, submit, claim, settle(Settlement.Op.EXPIRED, id, incarnation, token), find);
      default ->
          List.of(
              drops,
              submit,
              claim,
              random.nextBoolean() ? find : again(id),
              settle(Settlement.Op.FAILED, id, incarnation, token),
              lapse,
              find);
    };
  }

  /** Claims before, in and after an opening, and when it is not known. */
  private List<Step> hours(Step submit, Step claim) {
    List<Step> steps = new ArrayList<>(List.of(submit));
    if (random.nextBoolean()) {
      // The rate is used up while another job is due.
      steps.addAll(List.of(limit(), again(id()), claim));
    }
    steps.addAll(List.of(setHours("mornings"), claim));
    for (int i = 0; i < 6; i++) {
      steps.add(
          switch (random.nextInt(8)) {
            case 0 -> Step.pause(10);
            case 1 -> Step.pause(9);
            case 2 -> Step.call("stats", store -> store.stats(bucket));
            case 3 -> submit;
            case 4 -> setHours(random.nextBoolean() ? "mornings" : "evenings");
            default -> opening();
          });
      steps.add(claim);
    }
    steps.add(setHours(""));
    steps.add(Step.call("no limit", store -> store.limit(bucket, Throttle.NONE)));
    return steps;
  }

  private Step setHours(String hours) {
    return Step.call("hours '" + hours + "'", store -> store.hours(bucket, hours));
  }

  private Step opening() {
    String hours = random.nextInt(6) == 0 ? "evenings" : "mornings";
    long from = random.nextInt(3) * 10 - 10;
    long to = from + 10 * random.nextInt(3);
    long good = random.nextInt(3) * 10;
    long goodFrom = 10 - random.nextInt(3) * 10;
    return Step.call(
        "opening of "
            + hours
            + " from "
            + from
            + " to "
            + to
            + ", good from "
            + goodFrom
            + " until "
            + good,
        store -> {
          long now = store.stats(bucket).now();
          store.opening(
              bucket, hours, new Opening(now + from, now + to, now + goodFrom, now + good));
          return now;
        });
  }

  /** Times that meet to the millisecond, and limits that are reached: too rare by chance alone. */
  private List<Step> scenario() {
    String id = id();
    String incarnation = "i" + incarnations.size();
    incarnations.add(incarnation);
    LeaseToken token = new LeaseToken("t" + tokens.size());
    tokens.add(token.value());
    int kind = random.nextInt(13);
    Submission job =
        new Submission(
            id,
            incarnation,
            Due.in(0),
            1 + random.nextInt(2),
            /* timeToRun= */ 0,
            kind > 6 && kind < 10 ? lateTags() : tags(),
            "scenario".getBytes(StandardCharsets.UTF_8),
            true);
    known(job);
    Step submit = Step.call("submit " + Shown.text(job), s -> s.submit(bucket, List.of(job)));
    Step claim =
        Step.call(
            "claim 5 for 50 ms as " + token,
            s ->
                s.claim(
                    bucket, 5, Duration.ofMillis(50), JobStore.ClaimMode.PUSH, token, "owner0"));
    Step expire = Step.call("expire 5", s -> s.expire(bucket, 5));
    return switch (kind) {
      case 12 -> undone(id, incarnation, token, submit, claim);
      case 10 -> hours(submit, claim);
      case 11 ->
          List.of(
              remember(),
              Step.pause(10),
              remembered(),
              remember(),
              Step.pause(9),
              remembered(),
              Step.pause(1),
              remembered());
      case 7, 8, 9 -> late(id, incarnation, token, submit, claim);
      case 4, 5, 6 -> behind(id, incarnation, token, submit, claim);
      case 0 -> List.of(submit, claim, Step.pause(49), expire, Step.pause(1), expire);
      case 1 -> {
        List<Step> steps = new ArrayList<>(List.of(submit));
        for (int i = 0; i < 6; i++) {
          Settlement.Op op = random.nextInt(5) == 0 ? Settlement.Op.FAILED : Settlement.Op.UNKNOWN;
          steps.add(claim);
          steps.add(settle(op, id, incarnation, token));
        }
        yield steps;
      }
      case 2 -> {
        Step find = Step.call("find " + id, s -> s.find(bucket, id));
        Step ack = settle(Settlement.Op.DONE, id, incarnation, token);
        yield List.of(
            submit, claim, ack, Step.pause(999), find, Step.pause(1), find, submit, ack, expire);
      }
      default -> {
        Step reject = settle(Settlement.Op.REJECTED, id, incarnation, token);
        List<String> twice = List.of(id, id);
        Step requeue =
            Step.call(
                "requeue " + twice,
                s -> s.requeue(bucket, twice.stream().map(Requeue::of).toList(), Duration.ZERO));
        yield List.of(submit, claim, reject, requeue, revise(id, due()));
      }
    };
  }

  /** A cancel of a job that waits, runs, or ended, what follows it, and its undo. */
  private List<Step> undone(
      String id, String incarnation, LeaseToken token, Step submit, Step claim) {
    List<Step> steps = new ArrayList<>(List.of(submit));
    int before = random.nextInt(4);
    if (before > 0) {
      steps.add(claim);
    }
    if (before == 1) {
      steps.add(settle(Settlement.Op.FAILED, id, incarnation, token));
    }
    String operation = operation();
    steps.add(
        Step.call(
            "cancel " + id + " in " + operation,
            s -> s.cancel(bucket, id, null, true, "ada", operation)));
    if (before == 2) {
      steps.add(
          random.nextInt(4) == 0
              ? Step.pause(60)
              : settle(OPS.get(random.nextInt(OPS.size())), id, incarnation, token));
      steps.add(Step.call("expire 5", s -> s.expire(bucket, 5)));
    }
    steps.add(
        switch (random.nextInt(10)) {
          case 0 -> again(id);
          case 1 -> submit;
          case 2 -> Step.pause(999 + random.nextInt(2));
          case 3 -> Step.lose(id);
          case 4 -> Step.pause(600_000);
          default -> Step.pause(random.nextInt(60));
        });
    Step find = Step.call("find " + id, s -> s.find(bucket, id));
    steps.addAll(List.of(find, undoable(), restore(id), find, undoable(), restore(id)));
    steps.add(
        switch (random.nextInt(4)) {
          case 0 -> settle(Settlement.Op.DONE, id, incarnation, token);
          case 1 -> Step.call("cancel " + id, s -> s.cancel(bucket, id, null));
          case 2 -> revise(id, due());
          default -> claim;
        });
    steps.add(restore(id));
    return steps;
  }

  private Step restore(String id) {
    String operation = operation();
    return Step.call("restore " + id + " of " + operation, s -> s.restore(bucket, id, operation));
  }

  /** None, or one of two. */
  private @Nullable String operation() {
    int dice = random.nextInt(4);
    return dice < 2 ? null : "op-" + dice;
  }

  private Step undoable() {
    String operation = "op-" + (2 + random.nextInt(2));
    int max = 1 + random.nextInt(4);
    Cursor after =
        random.nextInt(3) > 0 ? null : new Cursor(START + 1000 + round(random.nextInt(300)), id());
    return Step.call(
        "undoable " + operation + " " + after + " " + max,
        s -> s.undoable(bucket, operation, after, max));
  }

  /** Submits that meet a job which runs, and the ways in which it ends. */
  private List<Step> behind(
      String id, String incarnation, LeaseToken token, Step submit, Step claim) {
    List<Step> steps = new ArrayList<>(List.of(submit, claim, again(id)));
    if (random.nextBoolean()) {
      steps.add(Step.pause(round(random.nextInt(40))));
      steps.add(again(id));
    }
    if (random.nextInt(4) == 0) {
      steps.add(Step.call("find " + id, s -> s.find(bucket, id)));
    }
    if (random.nextInt(4) == 0) {
      boolean interrupt = random.nextBoolean();
      String by = who();
      steps.add(
          Step.call(
              "cancel " + id + (interrupt ? " interrupting" : "") + " by " + by,
              s -> s.cancel(bucket, id, null, interrupt, by)));
      if (random.nextBoolean()) {
        steps.add(again(id));
      }
    }
    steps.add(
        switch (random.nextInt(8)) {
          case 0 -> Step.pause(50 + random.nextInt(20));
          case 1 -> Step.call("cancel " + id, s -> s.cancel(bucket, id, null));
          default -> settle(OPS.get(random.nextInt(OPS.size())), id, incarnation, token);
        });
    steps.add(Step.call("expire 5", s -> s.expire(bucket, 5)));
    if (random.nextBoolean()) {
      steps.add(again(id));
    }
    steps.add(
        switch (random.nextInt(5)) {
          case 0 -> Step.call("cancel " + id, s -> s.cancel(bucket, id, null));
          case 1 -> Step.call("purge " + id, s -> s.purge(bucket, JobState.DELAYED, List.of(id)));
          case 2 -> Step.lose(id);
          case 3 -> settle(Settlement.Op.DONE, id, incarnation, token);
          default -> submit;
        });
    steps.add(Step.pause(round(random.nextInt(120))));
    steps.add(claim);
    return steps;
  }

  private Step again(String id) {
    String incarnation = "i" + incarnations.size();
    incarnations.add(incarnation);
    submitted.add(new String[] {id, incarnation});
    OnConflict rule = rule();
    Submission job =
        new Submission(
            id,
            incarnation,
            rule.isDebounce() || random.nextBoolean()
                ? Due.in(round(random.nextInt(60)))
                : Due.at(START + round(random.nextInt(1000))),
            1 + random.nextInt(2),
            /* timeToRun= */ 0,
            origin(),
            tags(),
            ("again " + random.nextInt(3)).getBytes(StandardCharsets.UTF_8),
            rule);
    known(job);
    return Step.call("submit " + Shown.text(job), s -> s.submit(bucket, List.of(job)));
  }

  private Step settle(Settlement.Op op, String id, String incarnation, LeaseToken token) {
    Settlement settlement =
        new Settlement(
            op,
            id,
            incarnation,
            token,
            Duration.ZERO,
            false,
            new byte[0],
            random.nextBoolean() ? records.get(incarnation) : null,
            ending(token));
    return Step.call(
        "settle " + Shown.text(settlement), s -> s.settle(bucket, List.of(settlement)));
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
      return expire();
    } else if (dice < 84) {
      String id = id();
      Seen seen = Seen.values()[random.nextInt(Seen.values().length)];
      boolean interrupt = random.nextBoolean();
      String by = who();
      String operation = operation();
      return Step.call(
          "cancel %s %s%s by %s in %s"
              .formatted(id, seen, interrupt ? " interrupt" : "", by, operation),
          store -> store.cancel(bucket, id, seen.of(store, bucket, id), interrupt, by, operation));
    } else if (dice < 87) {
      String id = id();
      Due due = due();
      if (random.nextInt(3) > 0) {
        return Step.call(
            "move " + id + " " + due, store -> store.revise(bucket, id, Revision.of(due)));
      }
      return revise(id, due);
    } else if (dice < 90) {
      return requeue();
    } else if (dice < 92) {
      return purge();
    } else if (dice < 94) {
      return Step.lose(id());
    } else if (dice < 95) {
      String id = id();
      if (random.nextBoolean()) {
        return restore(id);
      }
      return Step.call("find " + id, store -> store.find(bucket, id));
    } else if (dice < 97) {
      return list();
    } else if (dice < 98) {
      boolean drop = random.nextBoolean();
      return switch (random.nextInt(7)) {
        case 0 -> tagged();
        case 1 -> forecast();
        case 2 -> Step.call("drop expired " + drop, store -> dropExpired(store, drop));
        case 3 -> remember();
        case 4 -> remembered();
        default -> limit();
      };
    } else if (dice < 99) {
      return pause();
    }
    return Step.call("stats", store -> store.stats(bucket));
  }

  private Step pause() {
    Pause.Scope scope = random.nextInt(3) == 0 ? Pause.Scope.APPLICATION : Pause.Scope.QUEUE;
    Pause.Terms terms =
        random.nextInt(2) == 0
            ? null
            : new Pause.Terms(
                "o p",
                random.nextBoolean() ? "" : "why",
                random.nextBoolean() ? null : Duration.ofMillis(1 + random.nextInt(60)));
    return Step.call("pause " + scope + " " + terms, store -> store.pause(bucket, scope, terms));
  }

  /** As below, unless the job may have the content of another one. */
  private void known(Submission job) {
    switch (job.onConflict().rule()) {
      case DEBOUNCE_FIRST, QUEUE_ONE -> {}
      default -> known(job.incarnation(), job.tags(), job.content());
    }
  }

  /** What the holder of a job knows of its record, as far as an ack says it. */
  private void known(String incarnation, List<String> tags, byte[] content) {
    records.put(
        incarnation, new JobRecord(incarnation, attempts, 0, 0, Origin.UNKNOWN, tags, content));
  }

  private Step wait(int dice) {
    if (dice < 5) {
      return Step.pause(random.nextBoolean() ? 10 : 1 + random.nextInt(20));
    }
    // Longer than a lease; or longer than the life of a tombstone.
    return Step.pause(
        dice < 8 ? round(50 + random.nextInt(150)) : round(950 + random.nextInt(100)));
  }

  /** Mostly whole tens, so that times meet exactly. */
  private long round(int millis) {
    return random.nextInt(4) == 0 ? millis : millis / 10 * 10L;
  }

  private String id() {
    return IDS[random.nextInt(IDS.length)];
  }

  private Due due() {
    return random.nextBoolean()
        ? Due.in(random.nextInt(4) == 0 ? 0 : round(random.nextInt(120)))
        : Due.at(START + round(random.nextInt(1000)));
  }

  /** Which version of a job a caller has seen; asked when the step is taken, of both stores. */
  private enum Seen {
    ANY,
    NOW,
    STALE;

    @Nullable JobVersion of(JobStore store, Bucket bucket, String id) {
      if (this == ANY) {
        return null;
      }
      JobView job = store.find(bucket, id).orElse(null);
      return job == null || job.record() == null
          ? new JobVersion("i0", 1)
          : new JobVersion(
              job.record().incarnation(), this == NOW ? job.version() : job.version() - 1);
    }
  }

  private Step submit() {
    List<Submission> jobs = new ArrayList<>();
    int count = random.nextInt(4) == 0 ? 2 + random.nextInt(4) : 1;
    for (int i = 0; i < count; i++) {
      String incarnation = "i" + incarnations.size();
      incarnations.add(incarnation);
      String id = id();
      submitted.add(new String[] {id, incarnation});
      OnConflict rule = rule();
      Submission job =
          new Submission(
              id,
              incarnation,
              rule.isDebounce() ? Due.in(round(random.nextInt(60))) : due(),
              attempts,
              random.nextInt(3) == 0 ? round(30 + random.nextInt(60)) : 0,
              origin(),
              tags(),
              ("content " + random.nextInt(3)).getBytes(StandardCharsets.UTF_8),
              rule);
      jobs.add(job);
      known(job);
    }
    return Step.call("submit " + Shown.text(jobs), store -> store.submit(bucket, jobs));
  }

  /** Mostly one of those that change nothing, or one of those that keep a single job. */
  private OnConflict rule() {
    OnConflict.Rule[] rules = OnConflict.Rule.values();
    OnConflict.Rule rule =
        random.nextBoolean() ? OnConflict.Rule.REFUSE : rules[random.nextInt(rules.length)];
    boolean debounce =
        rule == OnConflict.Rule.DEBOUNCE_LAST || rule == OnConflict.Rule.DEBOUNCE_FIRST;
    return new OnConflict(
        rule, debounce ? Duration.ofMillis(60 + round(random.nextInt(60))) : null);
  }

  private Step claim() {
    LeaseToken token = new LeaseToken("t" + tokens.size());
    tokens.add(token.value());
    int max = 1 + random.nextInt(5);
    Duration lease = Duration.ofMillis(round(20 + random.nextInt(100)));
    String owner = "owner" + random.nextInt(2);
    JobStore.ClaimMode[] modes = JobStore.ClaimMode.values();
    JobStore.ClaimMode mode = modes[Math.max(0, random.nextInt(modes.length + 2) - 2)];
    return Step.call(
        "claim " + max + " for " + lease + " " + mode + " as " + token,
        store -> store.claim(bucket, max, lease, mode, token, owner));
  }

  private Step settle() {
    List<Settlement> settlements = new ArrayList<>();
    int count = random.nextInt(3) == 0 ? 2 + random.nextInt(4) : 1;
    for (int i = 0; i < count; i++) {
      Settlement.Op op = random.nextInt(3) == 0 ? favourite : OPS.get(random.nextInt(OPS.size()));
      boolean alone = random.nextInt(4) == 0;
      String[] job = recent(submitted);
      String id = job == null || random.nextInt(8) == 0 ? id() : job[0];
      String incarnation = job == null || random.nextInt(8) == 0 ? "i0" : job[1];
      boolean plain =
          op == Settlement.Op.DONE || op == Settlement.Op.RELEASED || op == Settlement.Op.RETURNED;
      LeaseToken token = token();
      settlements.add(
          new Settlement(
              op,
              id,
              incarnation,
              token,
              plain || random.nextInt(6) > 0 ? Duration.ofMillis(round(random.nextInt(60))) : null,
              alone,
              (plain ? "" : "note " + random.nextInt(9)).getBytes(StandardCharsets.UTF_8),
              random.nextInt(3) == 0 ? null : records.get(incarnation),
              ending(token)));
    }
    return Step.call(
        "settle " + Shown.text(settlements), store -> store.settle(bucket, settlements));
  }

  private Step remember() {
    String event = random.nextBoolean() ? "paid=1" : "paid=2";
    Duration memory = Duration.ofMillis(10L * (1 + random.nextInt(3)));
    return Step.call(
        "remember " + event + " for " + memory,
        store -> {
          store.remember(bucket.queue().application(), event, memory);
          return event;
        });
  }

  private Step remembered() {
    return Step.call(
        "remembered",
        store ->
            new TreeSet<>(
                store.remembered(
                    bucket.queue().application(), Set.of("paid=1", "paid=2", "other"))));
  }

  private boolean dropExpired(JobStore store, boolean drop) {
    store.dropExpired(bucket, drop);
    return drop;
  }

  private Step expire() {
    int max = 1 + random.nextInt(4);
    if (random.nextInt(4) == 0) {
      return Step.call("lapse " + max, store -> store.lapse(bucket, max));
    }
    if (random.nextInt(3) > 0) {
      return Step.call("expire " + max, store -> store.expire(bucket, max));
    }
    int until = random.nextInt(30);
    int before = random.nextInt(100);
    int jump = random.nextInt(150);
    return Step.call(
        "expire %d until %d ms ago, claimed %d ms ago before a jump by %d ms"
            .formatted(max, until, before, jump),
        store -> {
          long now = store.stats(bucket).now();
          return store.expire(bucket, max, now - until, new ClockJump(now - before, jump));
        });
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
    List<String> ids = ids();
    Seen seen = Seen.values()[random.nextInt(Seen.values().length)];
    return Step.call(
        "requeue " + ids + " in " + delay + " " + seen,
        store ->
            store.requeue(
                bucket,
                ids.stream().map(id -> new Requeue(id, seen.of(store, bucket, id))).toList(),
                delay));
  }

  private Step purge() {
    JobState state = random.nextBoolean() ? JobState.DEAD : JobState.DELAYED;
    List<String> ids = ids();
    return Step.call("purge " + state + " " + ids, store -> store.purge(bucket, state, ids));
  }

  private Step revise(String id, Due due) {
    String incarnation = "i" + incarnations.size();
    incarnations.add(incarnation);
    submitted.add(new String[] {id, incarnation});
    List<String> tags = tags();
    long timeToRun = random.nextBoolean() ? 40 : 0;
    Origin origin = origin();
    byte[] content = "revised".getBytes(StandardCharsets.UTF_8);
    known(incarnation, tags, content);
    boolean whole = random.nextInt(3) > 0;
    boolean move = random.nextBoolean();
    boolean stale = random.nextInt(4) == 0;
    // What was seen is asked for when the step is taken: both stores must show the same.
    return Step.call(
        "revise " + id + (whole ? " content" : "") + (move ? " " + due : "") + " " + tags,
        store -> {
          JobVersion seen = (stale ? Seen.STALE : Seen.NOW).of(store, bucket, id);
          return store.revise(
              bucket,
              id,
              new Revision(
                  move ? due : null,
                  whole
                      ? new Revision.NewContent(
                          incarnation, attempts, timeToRun, origin, tags, content)
                      : null,
                  seen));
        });
  }

  private Step limit() {
    Throttle.Rate rate =
        new Throttle.Rate(
            1 + random.nextInt(9),
            Duration.ofMillis(List.of(30, 100, 3000).get(random.nextInt(3))));
    Throttle throttle =
        switch (random.nextInt(4)) {
          case 0 -> Throttle.NONE;
          case 1 -> new Throttle(1 + random.nextInt(3), null);
          case 2 -> new Throttle(null, rate);
          default -> new Throttle(1 + random.nextInt(3), rate);
        };
    return Step.call("limit " + throttle, store -> store.limit(bucket, throttle));
  }

  private Step tagged() {
    String tag = random.nextBoolean() ? "x" : "y";
    int max = 1 + random.nextInt(4);
    String after = random.nextBoolean() ? null : id();
    return Step.call(
        "tagged " + tag + " " + max + " behind " + after,
        store -> store.tagged(bucket, tag, after, max));
  }

  private Step forecast() {
    Duration width = Duration.ofMillis(1 + random.nextInt(40));
    return Step.call("forecast " + width, store -> store.forecast(bucket, width, 5));
  }

  /** As the holder of that token says; null if it does not know. */
  private @Nullable Ending ending(LeaseToken token) {
    int attempt = tokens.indexOf(token.value()) % 3;
    return attempt < 1 ? null : new Ending(attempt, START, 7, attempt == 1 ? "shop-1" : null);
  }

  private @Nullable String who() {
    return incarnations.size() % 3 == 0 ? null : "ada";
  }

  /** Mostly unknown. */
  private Origin origin() {
    return switch (incarnations.size() % 5) {
      case 0 -> new Origin(null, "shop/1");
      case 1 -> new Origin("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "anna");
      default -> Origin.UNKNOWN;
    };
  }

  /** No job has two such tags, but a store may not count one twice. */
  private List<String> lateTags() {
    String tag = IndexTags.notAfter(START - 5000);
    return random.nextInt(3) == 0
        ? List.of("x", tag, IndexTags.notAfter(START - 4000))
        : List.of("x", tag);
  }

  /** Mostly none. */
  private List<String> tags() {
    return switch (random.nextInt(7)) {
      case 6 -> List.of("x", IndexTags.notAfter(START - 1000 + round(random.nextInt(2000))));
      case 0 -> List.of("x");
      case 1 -> List.of("y", "x");
      case 2 -> List.of("y", "x!");
      default -> List.of();
    };
  }

  private Step list() {
    JobState[] states = {JobState.DELAYED, JobState.RESERVED, JobState.DEAD};
    JobState state = states[random.nextInt(states.length)];
    int max = 1 + random.nextInt(3);
    boolean newest = max < 3;
    if (random.nextInt(3) == 0) {
      return Step.call(
          "list all " + state + " by " + max, store -> allPages(store, state, newest, max));
    }
    Cursor after =
        random.nextInt(3) == 0 ? null : new Cursor(START + round(random.nextInt(300)), id());
    return Step.call(
        "list " + state + " behind " + after + " at most " + max,
        store -> store.list(bucket, state, newest, after, max));
  }

  private List<Page> allPages(JobStore store, JobState state, boolean newest, int max) {
    List<Page> pages = new ArrayList<>();
    Cursor after = null;
    do {
      Page page = store.list(bucket, state, newest, after, max);
      pages.add(page);
      after = page.next();
    } while (after != null && pages.size() < 20);
    return pages;
  }

  private List<String> ids() {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(4); i++) {
      ids.add(id());
    }
    if (random.nextInt(3) == 0) {
      ids.addAll(List.copyOf(ids));
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
