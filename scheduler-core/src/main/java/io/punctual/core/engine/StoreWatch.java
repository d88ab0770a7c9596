package io.punctual.core.engine;

import io.punctual.core.queue.Bucket;
import io.punctual.core.store.Durability;
import io.punctual.core.store.Epoch;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Restoration;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.StoreLoss;
import io.punctual.core.store.StoreNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the store every second: whether it is still the same, and, less often, how it is set up.
 * Where it may have forgotten something, puts back what this engine has receipts of; where it was
 * away, tells everybody that it is back.
 *
 * <p>What has ended, and what is not due yet, is put back at once. Jobs that were due follow {@link
 * #HOLD} later: who has the receipt of a job's submit need not be the one who knows that it is
 * done, and by then every engine has said what it knows.
 */
final class StoreWatch {

  private static final Logger log = LoggerFactory.getLogger(StoreWatch.class);
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final Duration INSPECT = Duration.ofSeconds(10);
  private static final int LOSSES = 20;

  /**
   * How long jobs are held back that were due when the store was found to have forgotten them: all
   * engines look within {@link #LOOK}, as long as the store answers them.
   */
  private static final Duration HOLD = Duration.ofSeconds(3);

  private final Store store;
  private final Receipts receipts;
  private final Context context;
  private final Queues queues;
  private final Doorbell bell = new Doorbell();
  // Shorter than that of the thousands who wait for the same: this one tells them.
  private final Backoff backoff = new Backoff(Duration.ofMillis(50), Duration.ofMillis(500));
  private boolean failing;
  private volatile boolean stopping;

  private @Nullable Epoch seen;
  private boolean forgetful;
  private @Nullable Held held;
  private final Map<String, StoreLoss> unreported = new LinkedHashMap<>();
  private volatile @Nullable Instant begun;
  private long inspected = Long.MIN_VALUE / 2;
  private Set<String> told = Set.of();
  private volatile StoreHealth health;

  /**
   * What is not put back yet.
   *
   * @param due epoch ms: jobs that are due by then
   * @param until monotonic ns
   */
  private record Held(long due, long until) {}

  StoreWatch(Store store, Context context, Queues queues) {
    this.store = store;
    this.receipts = context.receipts();
    this.context = context;
    this.queues = queues;
    this.health =
        new StoreHealth(
            null,
            store.inspector().durability().toString(),
            List.of(),
            List.of(),
            List.of(),
            null,
            List.of(),
            0);
  }

  StoreHealth health() {
    return health;
  }

  /** An operator has read of the losses. */
  synchronized void acknowledgeLosses() {
    store.epoch().acknowledge();
    unreported.clear();
    health = with(health.error(), List.of(), health.restored());
  }

  void start() {
    var unused = context.threads().start("punctual-store-watch", this::watch);
  }

  void stop() {
    stopping = true;
    bell.ask();
  }

  private void watch() {
    try {
      while (!stopping) {
        bell.take();
        bell.sleep(look(), Long.MIN_VALUE, Long.MIN_VALUE, false);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Answers after how many ns to look again. */
  private long look() {
    long asked = context.now();
    try {
      Epoch epoch = store.epoch().advance();
      compare(epoch);
      keepLosses();
      putBack(epoch.now());
      if (context.now() - inspected > INSPECT.toNanos()) {
        inspect();
        inspected = context.now();
      }
    } catch (RuntimeException e) {
      context.outages().failed(this, null, e);
      failed(e);
      return backoff.next(ThreadLocalRandom.current());
    }
    context.contact().answered(context.now());
    context.outages().answered(this, null);
    context.outages().works(asked);
    backoff.reset();
    if (failing) {
      failing = false;
      ringAll();
    }
    return held == null ? LOOK.toNanos() : Math.min(LOOK.toNanos(), untilRelease(held));
  }

  private long untilRelease(Held jobs) {
    return Math.max(1, jobs.until() - context.now());
  }

  private void putBack(long now) {
    Held jobs = held;
    if (forgetful) {
      receipts.recall();
      restoreAtOnce(now);
      held = new Held(now, context.now() + HOLD.toNanos());
      forgetful = false;
    } else if (jobs == null) {
      receipts.verified();
    } else if (context.now() >= jobs.until()) {
      restoreHeld(jobs.due());
      held = null;
    }
  }

  /** Lets every scanner look at once, whatever its back-off, and the directory be read. */
  private void ringAll() {
    queues.hint();
    for (QueueLanes queue : queues.all()) {
      queue.lanes.forEach(lane -> lane.bell.ask());
    }
  }

  private synchronized void failed(RuntimeException e) {
    failing = true;
    // Whatever answers again may be set up in another way.
    inspected = Long.MIN_VALUE / 2;
    health = with(String.valueOf(e.getMessage()), health.losses(), health.restored());
  }

  private void compare(Epoch now) {
    Epoch before = seen;
    seen = now;
    begun = now.begun() == 0 ? null : Instant.ofEpochMilli(now.begun());
    if (before == null) {
      if (now.begun() == now.now()) {
        log.warn(
            "The store is new: no scheduler was here before. If there should be jobs in it, it was"
                + " emptied or is another one; nothing can be put back");
      }
      return;
    }
    if (!now.id().equals(before.id())) {
      lost(
          now,
          "emptied " + now.id(),
          "the store was emptied, or another one took its place: its mark "
              + before.id()
              + " is gone. Restore it from a backup, or submit again what is missing");
    } else if (now.sequence() <= before.sequence()) {
      lost(
          now,
          // Each scheduler sees other numbers within the same moment.
          "older " + now.id() + " " + Duration.ofMillis(now.now()).toMinutes(),
          "the store came back as it was earlier: its mark went from "
              + before.sequence()
              + " to "
              + now.sequence()
              + " (about one a second and scheduler). Jobs that were finished since then may run"
              + " again");
    } else if (!now.lineages().equals(before.lineages())) {
      forgetful = true;
    }
  }

  private synchronized void lost(Epoch now, String key, String what) {
    forgetful = true;
    String text = what + "; schedulers put back what they accepted of late.";
    log.error("JOBS MAY BE LOST: {}", text);
    StoreLoss loss = new StoreLoss(Instant.ofEpochMilli(now.now()), text);
    unreported.put(key, loss);
    // At once: the store may be away again before it is told.
    List<StoreLoss> losses = new ArrayList<>(health.losses());
    losses.add(loss);
    health = with(health.error(), newest(losses), health.restored());
  }

  /** Into the store, so that those who start later know of it, until somebody has seen to it. */
  private synchronized void keepLosses() {
    unreported.forEach(store.epoch()::report);
    unreported.clear();
    List<StoreLoss> losses = store.epoch().losses();
    health = with(health.error(), newest(losses), health.restored());
  }

  private static List<StoreLoss> newest(List<StoreLoss> losses) {
    return losses.subList(Math.max(0, losses.size() - LOSSES), losses.size());
  }

  private void restoreAtOnce(long now) {
    int held = 0;
    int checked = 0;
    int restored = 0;
    for (Map.Entry<Bucket, List<Restoration>> entry : receipts.all().entrySet()) {
      List<Restoration> some = new ArrayList<>();
      for (Restoration restoration : entry.getValue()) {
        if (wasDue(restoration, now)) {
          held++;
        } else {
          some.add(restoration);
        }
      }
      checked += some.size();
      restored += restore(entry.getKey(), some, false);
    }
    log.warn(
        "Redis was started again or another one took over. Of {} jobs that were accepted or ended"
            + " here of late it had forgotten {}; these were put back. {} more were due: what is"
            + " forgotten of them is put back in {} s, unless another scheduler says till then that"
            + " it is done",
        checked,
        restored,
        held,
        HOLD.toSeconds());
    // Queues that were forgotten are registered again, and all heads are looked at.
    ringAll();
  }

  private void restoreHeld(long due) {
    int restored = 0;
    for (Map.Entry<Bucket, List<Restoration>> entry : receipts.all().entrySet()) {
      restored +=
          restore(
              entry.getKey(),
              entry.getValue().stream().filter(job -> wasDue(job, due)).toList(),
              true);
    }
    if (restored > 0) {
      log.warn("{} jobs that were due and forgotten were put back", restored);
      ringAll();
    }
  }

  private static boolean wasDue(Restoration restoration, long now) {
    return restoration.job() != null && restoration.at() <= now;
  }

  /** Answers how many were forgotten. */
  private int restore(Bucket bucket, List<Restoration> all, boolean wereDue) {
    int restored = 0;
    for (int i = 0; i < all.size(); i += JobStore.MAX_JOBS) {
      List<Restoration> some = all.subList(i, Math.min(all.size(), i + JobStore.MAX_JOBS));
      List<Restored.Kind> kinds = store.jobs().restore(bucket, some).kinds();
      int forgotten = 0;
      int again = 0;
      for (int k = 0; k < kinds.size(); k++) {
        Restored.Kind kind = kinds.get(k);
        boolean done = some.get(k).kind() == Restoration.Kind.DONE;
        if (kind == Restored.Kind.REPEATED || (done && kind == Restored.Kind.ENDED)) {
          again++;
        }
        if (kind != Restored.Kind.REPEATED && kind != Restored.Kind.KEPT) {
          forgotten++;
        }
      }
      tell(bucket, RepeatCause.DONE_FORGOTTEN, again);
      tell(bucket, RepeatCause.PUT_BACK, wereDue ? forgotten : 0);
      addRestored(forgotten);
      restored += forgotten;
    }
    return restored;
  }

  private void tell(Bucket bucket, RepeatCause cause, int jobs) {
    if (jobs > 0) {
      context.options().listener().of(bucket.queue()).repeated(cause, jobs);
    }
  }

  private synchronized void addRestored(long restored) {
    health = with(health.error(), health.losses(), health.restored() + restored);
  }

  private void inspect() {
    List<StoreNode> nodes = store.inspector().nodes();
    List<String> obstacles = store.inspector().obstacles(nodes);
    List<StoreNode.Finding> findings =
        nodes.stream().map(StoreNode::findings).flatMap(Collection::stream).toList();
    Set<String> now = new TreeSet<>();
    findings.forEach(finding -> now.add((finding.unsafe() ? "UNSAFE: " : "") + finding.text()));
    obstacles.forEach(
        obstacle ->
            now.add(
                "UNSAFE: durability "
                    + store.inspector().durability()
                    + " cannot be kept now: "
                    + obstacle));
    for (String text : now) {
      if (!told.contains(text)) {
        log.warn("{}", text);
      }
    }
    told = now;
    synchronized (this) {
      health =
          new StoreHealth(
              null,
              store.inspector().durability().toString(),
              nodes,
              findings,
              obstacles,
              begun,
              health.losses(),
              health.restored());
    }
  }

  private StoreHealth with(@Nullable String error, List<StoreLoss> losses, long restored) {
    return new StoreHealth(
        error,
        health.durability(),
        health.nodes(),
        health.findings(),
        health.obstacles(),
        begun,
        List.copyOf(losses),
        restored);
  }

  @Override
  public String toString() {
    return "the watch on the store";
  }

  /**
   * Refuses to start on a store that cannot keep what is promised.
   *
   * @throws UnfitStoreException saying why, and what to do
   */
  static void requireFit(Store store) {
    if (store.inspector().durability().level() != Durability.Level.SYNCED) {
      // Replicas come and go.
      return;
    }
    List<String> obstacles;
    try {
      obstacles = store.inspector().obstacles(store.inspector().nodes());
    } catch (StoreException e) {
      // Not there yet: changes are refused until it is, and fit.
      return;
    }
    if (!obstacles.isEmpty()) {
      throw new UnfitStoreException(
          "punctual.durability="
              + store.inspector().durability()
              + " cannot be kept: "
              + String.join("; ", obstacles));
    }
  }
}
