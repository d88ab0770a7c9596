package io.punctual.test.simulation;

import io.punctual.DelayQueueJob;
import io.punctual.conflict.OnConflict;
import io.punctual.core.Operations.EventOutcome;
import io.punctual.core.event.EventEffects;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.EventTags;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Origin;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Claim;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.test.store.BucketContents;
import io.punctual.test.store.RedisBucketReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Submitters, schedulers and workers as small state machines on one queue of events in virtual
 * time, over the real scripts. Of the schedulers all, some or none are owners, by the seed.
 * Everything that happens is drawn from the seed, so a run can be repeated exactly.
 */
final class World {

  private static final long START = 1_000_000;
  private static final long FAULTS_UNTIL = START + 3_000;
  private static final long DEADLINE = START + 120_000;
  private static final Duration LEASE = Duration.ofMillis(100);
  private static final int JOBS = 14;

  /** Ids that are submitted again and again, by rule. */
  private static final Map<String, OnConflict> KEYS =
      Map.of(
          "last", OnConflict.debounce(Duration.ofMillis(400), OnConflict.Keep.LAST),
          "first", OnConflict.debounce(Duration.ofMillis(400), OnConflict.Keep.FIRST),
          "one", OnConflict.whileRunning(OnConflict.WhileRunning.QUEUE_ONE),
          "newest", OnConflict.whileRunning(OnConflict.WhileRunning.REPLACE_QUEUED));

  private static final int TRIGGERS = 60;

  /** Jobs that wait for an event: every other one is cancelled by it, the others become due. */
  private static final int WAITING = 8;

  /** Which schedulers look often. Those that do not notice when one that does crashes. */
  private enum Owners {
    ALL,
    TWO,
    ONE,
    CHANGING,
    NONE
  }

  private record Event(long at, long order, Runnable action) {}

  private final JobStore store;
  private final RedisBucketReader reader;
  private final Bucket bucket;
  private final Random random;
  private final Ledger ledger = new Ledger();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::order));
  private final List<Scheduler> schedulers = new ArrayList<>();
  private final EventEffects effects;
  private final Owners owners;
  private long now = START;
  private long order;
  private int names;
  private int open = JOBS + TRIGGERS * KEYS.size() + 2 * WAITING;

  World(JobStore store, RedisBucketReader reader, Bucket bucket, long seed) {
    this.store = store;
    this.reader = reader;
    this.effects = new EventEffects(store);
    this.bucket = bucket;
    this.random = new Random(seed);
    this.owners = Owners.values()[(int) Math.floorMod(seed, (long) Owners.values().length)];
  }

  /** Runs to the end; answers what was wrong. */
  List<String> run() {
    reader.clear();
    reader.setTime(now);
    for (int i = 0; i < JOBS; i++) {
      String id = "j" + i;
      in(random.nextInt(1_500), () -> submit(id, Due.at(START + random.nextInt(2_500))));
    }
    new TreeMap<>(KEYS)
        .forEach(
            (key, rule) -> {
              // So often that a debounce without a bound would never run.
              int within = random.nextBoolean() ? 1_500 : 3_000;
              for (int i = 0; i < TRIGGERS; i++) {
                in(random.nextInt(within), () -> trigger(key, rule));
              }
            });
    for (int i = 0; i < WAITING; i++) {
      String id = "e" + i;
      DelayQueueJob.Event event = new DelayQueueJob.Event("paid", id);
      boolean cancels = i % 2 == 0;
      String tag = cancels ? EventTags.cancelOn(event) : EventTags.runOn(event);
      Due due = Due.at(START + (cancels ? random.nextInt(3_000) : 60_000));
      in(random.nextInt(2_500), () -> submitWaiting(id, tag, due));
      in(random.nextInt(3_000), () -> happen(id, tag));
    }
    for (int i = 0; i < JOBS; i += 3) {
      String id = "j" + i;
      in(random.nextInt(4_000), () -> interrupt(id));
    }
    for (int i = 0; i < 3; i++) {
      Scheduler scheduler = new Scheduler("s" + i);
      schedulers.add(scheduler);
      scheduler.boot();
    }
    for (int i = 0; i < 6; i++) {
      in(random.nextInt(3_000), this::crashOrPause);
    }
    while (!events.isEmpty() && now < DEADLINE && !(open == 0 && drained())) {
      Event event = events.remove();
      if (event.at() > now) {
        now = event.at();
        reader.setTime(now);
      }
      event.action().run();
    }
    BucketContents end = reader.read();
    Set<String> finished = ended(end, " D ");
    Set<String> cancelled = ended(end, " C ");
    Set<String> pending = new TreeSet<>(end.delayed().keySet());
    pending.addAll(end.reserved().keySet());
    pending.addAll(end.next().keySet());
    reader.clear();
    return ledger.verdict(finished, cancelled, end.dead().keySet(), pending);
  }

  private static Set<String> ended(BucketContents contents, String how) {
    return contents.tombs().entrySet().stream()
        .filter(tomb -> tomb.getValue().contains(how))
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  /** Cancels the job, also while it runs. */
  private void interrupt(String id) {
    if (store.cancel(bucket, id, null, true).kind() == Cancelled.Kind.CANCELLING) {
      ledger.stopped(String.valueOf(store.find(bucket, id).orElseThrow().incarnation()));
    }
  }

  private boolean drained() {
    BucketContents contents = reader.read();
    return contents.delayed().isEmpty()
        && contents.reserved().isEmpty()
        && contents.next().isEmpty();
  }

  private void in(long millis, Runnable action) {
    events.add(new Event(now + millis, order++, action));
  }

  private boolean faulty(int oneIn) {
    return now < FAULTS_UNTIL && random.nextInt(oneIn) == 0;
  }

  /** A client repeats a submit whose answer was lost, with another incarnation each time. */
  private void submit(String id, Due due) {
    Submission job =
        new Submission(
            id,
            "i" + names++,
            due,
            4,
            0,
            List.of(),
            ("content of " + id).getBytes(StandardCharsets.UTF_8),
            false);
    ledger.submitted(id, due.millis());
    Submitted answer = store.submit(bucket, faulty(6) ? List.of(job, job) : List.of(job));
    if (faulty(4)) {
      in(20 + random.nextInt(400), () -> submit(id, due));
      return;
    }
    Submitted.Kind kind = answer.items().get(0).kind();
    if (kind != Submitted.Kind.CREATED
        && kind != Submitted.Kind.ALREADY_THERE
        && kind != Submitted.Kind.ALREADY_DONE) {
      throw new IllegalStateException("an honest submit was answered " + kind);
    }
    ledger.accepted(id);
    open--;
  }

  /** A client that had no answer says it once more, which is one more trigger. */
  private void trigger(String key, OnConflict rule) {
    Submission job =
        new Submission(
            key,
            "i" + names++,
            Due.in(rule.isDebounce() ? 200 : random.nextInt(50)),
            4,
            0,
            Origin.UNKNOWN,
            List.of(),
            ("trigger " + random.nextInt(3)).getBytes(StandardCharsets.UTF_8),
            rule);
    ledger.triggered(key, now, rule.atMost());
    Submitted.Kind kind = store.submit(bucket, List.of(job)).items().get(0).kind();
    if (faulty(6)) {
      in(20 + random.nextInt(400), () -> trigger(key, rule));
      return;
    }
    if (kind != Submitted.Kind.CREATED
        && kind != Submitted.Kind.REPLACED
        && kind != Submitted.Kind.MERGED) {
      throw new IllegalStateException("a trigger was answered " + kind);
    }
    open--;
  }

  /** A client whose submit was not answered repeats it as a whole: it stores, then it looks. */
  private void submitWaiting(String id, String tag, Due due) {
    ledger.submitted(id, due.millis());
    Submission job =
        new Submission(
            id, "i" + names++, due, 4, 0, List.of(tag), id.getBytes(StandardCharsets.UTF_8), false);
    store.submit(bucket, List.of(job));
    step(
        () -> submitWaiting(id, tag, due),
        () -> {
          if (!store.remembered(application(), Set.of(EventTags.event(tag))).isEmpty()) {
            met(effects.apply(bucket, id, tag));
          }
          step(
              () -> submitWaiting(id, tag, due),
              () -> {
                ledger.accepted(id);
                ledger.met(id, EventTags.cancels(tag), now);
                open--;
              });
        });
  }

  /** The event comes: it is remembered, then applied to the jobs that are found. */
  private void happen(String id, String tag) {
    ledger.mayRunFrom(id, now);
    store.remember(application(), EventTags.event(tag), Duration.ofHours(1));
    step(
        () -> happen(id, tag),
        () -> {
          store.tagged(bucket, tag, null, 10).jobs().stream()
              .map(job -> effects.apply(bucket, job, tag))
              .forEach(this::met);
          step(
              () -> happen(id, tag),
              () -> {
                ledger.met(id, EventTags.cancels(tag), now);
                open--;
              });
        });
  }

  private void met(EventEffects.@Nullable Effect effect) {
    if (effect != null && effect.outcome() == EventOutcome.CANCELLING && effect.version() != null) {
      ledger.stopped(effect.version().incarnation());
    }
  }

  private String application() {
    return bucket.queue().application();
  }

  /** Goes on a little later, or begins again, as after a crash in between. */
  private void step(Runnable again, Runnable next) {
    if (faulty(6)) {
      in(20 + random.nextInt(400), again);
    } else {
      in(random.nextInt(3), next);
    }
  }

  private void crashOrPause() {
    Scheduler victim = schedulers.get(random.nextInt(schedulers.size()));
    if (random.nextBoolean()) {
      victim.crash();
      in(50 + random.nextInt(300), victim::boot);
    } else {
      victim.pausedUntil = now + LEASE.toMillis() * (1 + random.nextInt(4));
      victim.held.keySet().forEach(ledger::fault);
    }
  }

  private final class Scheduler {

    private final String name;
    private final Map<String, ClaimedJob> held = new LinkedHashMap<>();
    private int life;
    private long pausedUntil;

    Scheduler(String name) {
      this.name = name;
    }

    void crash() {
      life++;
      held.keySet().forEach(ledger::fault);
      held.clear();
    }

    /** Starts with nothing in hand, whatever it was before. */
    void boot() {
      crash();
      later(1, this::scan);
      later(LEASE.toMillis() / 3, this::heartbeat);
    }

    /** What a dead scheduler had planned does not happen; what a paused one had happens late. */
    private void later(long millis, Runnable action) {
      int mine = life;
      in(millis, () -> whenAwake(mine, action));
    }

    private void whenAwake(int mine, Runnable action) {
      if (life != mine) {
        return;
      }
      if (pausedUntil > now) {
        in(pausedUntil - now, () -> whenAwake(mine, action));
      } else {
        action.run();
      }
    }

    private boolean isOwner() {
      return switch (owners) {
        case ALL -> true;
        case TWO -> schedulers.indexOf(this) < 2;
        case ONE -> schedulers.indexOf(this) == 0;
        case CHANGING -> random.nextBoolean();
        case NONE -> false;
      };
    }

    private void scan() {
      later((isOwner() ? 5 : 200) + random.nextInt(20), this::scan);
      store.expire(bucket, 1 + random.nextInt(5));
      LeaseToken token = new LeaseToken(name + "-" + names++);
      Claim claim =
          store.claim(bucket, 1 + random.nextInt(4), LEASE, JobStore.ClaimMode.PUSH, token, name);
      for (ClaimedJob job : claim.jobs()) {
        ledger.leased(job.taskId(), now, now + LEASE.toMillis());
        ledger.claimed(job.taskId(), job.record().incarnation(), now);
      }
      if (faulty(8)) {
        // The answer was lost: nobody knows of these jobs until their lease is over.
        claim.jobs().forEach(job -> ledger.ended(job.taskId(), now + LEASE.toMillis()));
        return;
      }
      for (ClaimedJob job : claim.jobs()) {
        held.put(job.taskId(), job);
        later(random.nextInt(5), () -> send(job));
      }
    }

    private void heartbeat() {
      later(LEASE.toMillis() / 3, this::heartbeat);
      if (faulty(6)) {
        // Lost on its way; should the lease run out of that, the job is handed out again.
        held.keySet().forEach(ledger::fault);
        return;
      }
      if (held.isEmpty()) {
        return;
      }
      List<Lease> leases =
          held.values().stream().map(job -> new Lease(job.taskId(), job.token())).toList();
      Set<String> lost = store.extend(bucket, leases, LEASE).lost();
      leases.stream()
          .filter(lease -> !lost.contains(lease.taskId()))
          .forEach(lease -> ledger.extended(lease.taskId(), now + LEASE.toMillis()));
      lost.forEach(held::remove);
    }

    private void send(ClaimedJob job) {
      ClaimedJob mineStill = held.get(job.taskId());
      if (mineStill == null || !mineStill.token().equals(job.token())) {
        return;
      }
      if (random.nextInt(10) == 0) {
        // Nobody there.
        settle(job, Settlement.Op.UNDELIVERABLE);
        return;
      }
      int mine = life;
      ledger.began(job.taskId(), now);
      boolean dies = faulty(10);
      boolean fails = random.nextInt(6) == 0;
      in(
          random.nextInt(250),
          () -> {
            if (dies) {
              ledger.fault(job.taskId());
              whenAwake(mine, () -> settle(job, Settlement.Op.UNKNOWN));
              return;
            }
            if (!fails) {
              ledger.succeeded(job.taskId());
            }
            if (faulty(8)) {
              // The worker's answer is lost on its way.
              ledger.fault(job.taskId());
              whenAwake(mine, () -> settle(job, Settlement.Op.UNKNOWN));
            } else {
              whenAwake(mine, () -> settle(job, fails ? Settlement.Op.FAILED : Settlement.Op.DONE));
            }
          });
    }

    private void settle(ClaimedJob job, Settlement.Op op) {
      Settlement settlement =
          new Settlement(
              op,
              job.taskId(),
              job.record().incarnation(),
              job.token(),
              Duration.ofMillis(random.nextInt(60)),
              true,
              new byte[0]);
      Settled settled = store.settle(bucket, List.of(settlement)).get(0);
      if (settled.kind() == Settled.Kind.DONE || settled.kind() == Settled.Kind.DEAD) {
        ledger.ended(job.taskId(), now);
      }
      if (settled.kind() != Settled.Kind.LEASE_LOST
          && settled.kind() != Settled.Kind.UNKNOWN
          && settled.kind() != Settled.Kind.ALREADY_DONE) {
        ledger.released(job.taskId());
      }
      if (faulty(5)) {
        // The store's answer was lost: the same is said again, once or twice.
        later(10 + random.nextInt(100), () -> settle(job, op));
        return;
      }
      held.remove(job.taskId(), job);
    }
  }
}
