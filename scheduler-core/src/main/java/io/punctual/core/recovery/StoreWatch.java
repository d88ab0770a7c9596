package io.punctual.core.recovery;

import io.punctual.core.LossJournal;
import io.punctual.core.StoreHealth;
import io.punctual.core.UnfitStoreException;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.durability.Epoch;
import io.punctual.core.store.durability.EpochMarker;
import io.punctual.core.store.durability.LossEntry;
import io.punctual.core.store.durability.StoreLoss;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Backoff;
import io.punctual.core.work.Context;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Looks at the store every second: whether it is still the same, and, less often, how it is set up.
 * Reports what was lost, and wakes all scanners when the store answers again.
 */
public final class StoreWatch {

  private static final Logger log = LoggerFactory.getLogger(StoreWatch.class);
  private static final String CALL = "watch";
  private static final String DUTY = "The watch of the store";
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final Duration GAP = Duration.ofSeconds(3);
  private static final Duration INSPECT = Duration.ofSeconds(10);
  private static final Duration STALE = Duration.ofSeconds(15);
  private static final int LOSSES = 20;

  private final Store store;
  private final Context context;
  private final Contact contact;
  private final Outages outages;
  private final Runnable wakeAll;
  private final WakeSignal signal = new WakeSignal();
  // Shorter than that of the thousands who wait for the same: this one tells them.
  private final Backoff backoff = new Backoff(Duration.ofMillis(50), Duration.ofMillis(500));
  private boolean failing;
  private volatile boolean stopping;

  private final Map<String, EpochHistory> histories = new HashMap<>();
  private final List<Report> unreported = new ArrayList<>();
  private final List<EpochMarker.Notice> unrecorded = new ArrayList<>();
  private volatile Read read = new Read(LossJournal.UNKNOWN, 0);
  private Map<String, Started> started = Map.of();
  private volatile @Nullable Instant begun;
  private volatile @Nullable String mark;
  private long inspected = Long.MIN_VALUE / 2;
  private List<StoreNode.Finding> replicas = List.of();
  private Set<String> told = Set.of();
  private volatile StoreHealth health;

  private record Report(String name, StoreLoss loss) {}

  /** A mark, and the ticks before and after it was read. */
  private record Answer(Epoch epoch, long asked, long answered) {

    /**
     * Returns the store's time at earlier ticks, or a little before. It counts back from this
     * answer: at those ticks another server may have answered, with another clock.
     */
    Instant at(long ticks) {
      return Instant.ofEpochMilli(epoch.now() - Duration.ofNanos(answered - ticks).toMillis());
    }
  }

  /** The journal, and the ticks at which it was read. */
  private record Read(LossJournal journal, long at) {}

  /**
   * A run of a Redis server.
   *
   * @param runId null for one whose place another server took
   * @param at ticks when it was seen last
   */
  private record Started(@Nullable String runId, long at) {}

  /**
   * @param wakeAll wakes all scanners
   */
  public StoreWatch(
      Store store, Context context, Contact contact, Outages outages, Runnable wakeAll) {
    this.store = store;
    this.context = context;
    this.contact = contact;
    this.outages = outages;
    this.wakeAll = wakeAll;
    this.health =
        new StoreHealth(
            null,
            false,
            store.inspector().durability().toString(),
            List.of(),
            List.of(),
            List.of(),
            null,
            null,
            List.of());
  }

  public StoreHealth health() {
    return health;
  }

  /** An operator has read of the losses. */
  public synchronized void acknowledgeLosses() {
    store.epoch().acknowledge();
    unreported.clear();
    health = with(health.error(), health.refuses(), List.of());
  }

  public LossJournal journal() {
    Read last = read;
    LossJournal journal = last.journal();
    long age = Math.max(0, context.now() - last.at());
    if (journal.store() == null || age > STALE.toNanos()) {
      // Other schedulers may know of a newer loss, or of another store.
      return LossJournal.UNKNOWN;
    }
    return new LossJournal(
        journal.store(), journal.now().plusNanos(age), journal.begun(), journal.entries());
  }

  public synchronized LossJournal requestResend(Instant since) {
    Epoch epoch = store.epoch().advance().get(0);
    long now = epoch.now();
    store
        .epoch()
        .record(
            List.of(
                new EpochMarker.Notice(
                    "requested " + UUID.randomUUID(),
                    LossEntry.Kind.REQUESTED,
                    now,
                    Math.max(1, since.toEpochMilli()))));
    return keep(epoch);
  }

  public void start() {
    var unused = context.threads().start("punctual-store-watch", this::watch);
  }

  public void stop() {
    stopping = true;
    signal.ask();
  }

  private void watch() {
    while (!stopping) {
      signal.take();
      signal.sleep(look());
    }
  }

  /** Answers after how many ns to look again. */
  private long look() {
    long asked = context.now();
    try {
      List<Epoch> epochs = store.epoch().advance();
      long answered = context.now();
      Epoch epoch = epochs.get(0);
      begun = epoch.begun() == 0 ? null : Instant.ofEpochMilli(epoch.begun());
      mark = epoch.id();
      boolean lost = false;
      for (Epoch each : epochs) {
        lost |= compare(new Answer(each, asked, answered));
      }
      histories.keySet().retainAll(store.epoch().marks());
      try {
        List<StoreNode.Finding> confirming = store.inspector().replicas();
        // What came with the loss is told with it, or applications would send again twice.
        if (lost || context.now() - inspected > INSPECT.toNanos() || !confirming.equals(replicas)) {
          inspect(confirming, new Answer(epoch, asked, answered));
          inspected = context.now();
        }
      } finally {
        try {
          keepJournal(epoch);
        } finally {
          keepLosses();
        }
      }
      store.epoch().recordLook();
    } catch (StoreException e) {
      outages.failed(CALL, null, e);
      failed(e);
      return backoff.next(ThreadLocalRandom.current());
    } catch (RuntimeException | Error e) {
      context.defects().met(DUTY, e);
      return backoff.next(ThreadLocalRandom.current());
    }
    context.defects().worked(DUTY);
    contact.answered(context.now());
    outages.answered(CALL, null);
    outages.works(asked);
    backoff.reset();
    if (failing) {
      failing = false;
      wakeAll.run();
    }
    return LOOK.toNanos();
  }

  private synchronized void failed(StoreException e) {
    failing = true;
    // Whatever answers again may be set up in another way.
    inspected = Long.MIN_VALUE / 2;
    boolean refuses = e.kind() == StoreException.Kind.REFUSED;
    health = with(String.valueOf(e.getMessage()), refuses, health.losses());
  }

  /** Returns whether something was lost. */
  private boolean compare(Answer answer) {
    Epoch now = answer.epoch();
    EpochHistory history = histories.computeIfAbsent(now.mark(), name -> new EpochHistory());
    Epoch before = history.newest();
    Long completeUntil = history.completeUntil(now.sequence() - 1);
    EpochHistory.Change change = history.change(now);
    String redis = now.node().isEmpty() ? "Redis" : "Redis at " + now.node();
    switch (change) {
      case FIRST -> {
        if (now.mark().isEmpty() && now.begun() == now.now()) {
          log.atLevel(context.options().newStoreExpected() ? Level.INFO : Level.WARN)
              .log(
                  "Redis is new: no scheduler has used it before. If it should hold jobs, it was"
                      + " emptied or is another Redis: check spring.data.redis, or restore a"
                      + " backup");
        }
        noticeGap(now);
      }
      case EMPTIED -> {
        String name = "emptied " + now.id();
        unrecorded.add(new EpochMarker.Notice(name, LossEntry.Kind.EMPTIED, now.now(), 0));
        lost(
            now,
            name,
            "JOBS MAY BE LOST",
            redis
                + " was emptied, or another one took its place: its mark "
                + (before == null ? "" : before.id())
                + " is gone. All jobs that were there are lost, whatever durability their answers"
                + " named. Restore it from a backup, or submit again what is missing");
      }
      case OLDER -> older(answer, redis, before == null ? 0 : before.sequence(), completeUntil);
      case LATER -> {}
    }
    // Last: if an Error is thrown above, the next look detects the change again.
    history.add(now, answer.asked());
    return change == EpochHistory.Change.EMPTIED || change == EpochHistory.Change.OLDER;
  }

  private void older(Answer answer, String redis, long before, @Nullable Long completeUntil) {
    Epoch now = answer.epoch();
    String name = EpochMarker.OLDER + now.id();
    Instant asOf = completeUntil == null ? null : answer.at(completeUntil);
    unrecorded.add(
        new EpochMarker.Notice(
            name, LossEntry.Kind.OLDER, now.now(), asOf == null ? 0 : asOf.toEpochMilli()));
    boolean replicated =
        completeUntil != null
            && store.inspector().allReplicated(Duration.ofNanos(context.now() - completeUntil));
    String since = asOf == null ? "since then" : "since " + asOf;
    lost(
        now,
        // Each scheduler judges its own changes: its "again" must not hide the "lost" of another.
        name + (replicated ? " again" : " lost"),
        replicated ? "JOBS MAY RUN AGAIN" : "JOBS MAY BE LOST",
        redis
            + " came back as it was earlier: its mark went from "
            + before
            + " to "
            + now.sequence()
            + " (each scheduler adds about one a second). "
            + (replicated
                ? "Replicas had confirmed all changes that scheduler "
                    + context.options().owner()
                    + " acknowledged "
                    + since
                    + "."
                : "May be lost: changes acknowledged " + since + " as redis or synced.")
            + " Changes that a replica had confirmed (replicated:n) are there if that replica was"
            + " promoted, and may be lost if an older copy was restored. Jobs that ended "
            + since
            + " run again. Send again what is missing (POST /api/v1/store/losses/resend asks the"
            + " applications whose outbox keeps what it sent), then acknowledge the loss");
  }

  private synchronized void lost(Epoch now, String name, String headline, String what) {
    log.error("{}: {}", headline, what);
    StoreLoss loss = new StoreLoss(Instant.ofEpochMilli(now.now()), what);
    unreported.add(new Report(name, loss));
    // At once: the store may be away again before it is told.
    List<StoreLoss> losses = new ArrayList<>(health.losses());
    losses.add(loss);
    health = with(health.error(), health.refuses(), newest(losses));
  }

  /** Writes losses to the store, where later engines read them until they are acknowledged. */
  private synchronized void keepLosses() {
    unreported.forEach(report -> store.epoch().report(report.name(), report.loss()));
    unreported.clear();
    List<StoreLoss> losses = store.epoch().losses();
    health = with(health.error(), health.refuses(), newest(losses));
  }

  private synchronized void keepJournal(Epoch now) {
    store.epoch().record(unrecorded);
    unrecorded.clear();
    var unused = keep(now);
  }

  private LossJournal keep(Epoch now) {
    long asked = context.now();
    LossJournal journal =
        new LossJournal(
            now.id(),
            Instant.ofEpochMilli(now.now()),
            Instant.ofEpochMilli(now.begun()),
            store.epoch().journal());
    read = new Read(journal, asked);
    return journal;
  }

  /**
   * After a time without a scheduler, nobody has seen whether the store is as the last one left it:
   * it may be an older copy. All that it has was acknowledged before the last look that it knows.
   */
  private void noticeGap(Epoch now) {
    if (now.looked() != 0 && now.now() - now.looked() > GAP.toMillis()) {
      unrecorded.add(
          new EpochMarker.Notice(
              "unwatched " + now.id() + " " + now.looked(),
              LossEntry.Kind.RESTARTED,
              now.now(),
              now.looked() - EpochHistory.MARGIN.toMillis()));
    }
  }

  /**
   * Notices servers that were started again or took the place of another one. A server that does
   * not answer is compared when it answers again.
   */
  private void noticeStarts(List<StoreNode> nodes, Answer answer) {
    Set<String> addresses = nodes.stream().map(StoreNode::address).collect(Collectors.toSet());
    Started replaced =
        started.entrySet().stream()
            .filter(entry -> !addresses.contains(entry.getKey()))
            .map(Map.Entry::getValue)
            .min(Comparator.comparingLong(Started::at))
            .map(gone -> new Started(null, gone.at()))
            .orElse(null);
    Map<String, Started> now = new HashMap<>();
    for (StoreNode node : nodes) {
      String known = addressBefore(node);
      if (known != null) {
        // The driver already names the new primary, but the old one sent this answer.
        now.putIfAbsent(
            known,
            node.answered()
                ? new Started(node.runId(), answer.asked())
                : Objects.requireNonNull(started.get(known)));
        continue;
      }
      Started before = started.containsKey(node.address()) ? started.get(node.address()) : replaced;
      if (node.answered()) {
        if (before != null && !node.runId().equals(before.runId())) {
          noticeStart(node, before, answer);
        }
        now.put(node.address(), new Started(node.runId(), answer.asked()));
      } else if (before != null) {
        now.put(node.address(), before);
      }
    }
    started = now;
  }

  /** Returns the other address at which a server with this run id was seen; null if none. */
  private @Nullable String addressBefore(StoreNode node) {
    return started.containsKey(node.address()) || node.runId().isEmpty()
        ? null
        : started.entrySet().stream()
            .filter(entry -> node.runId().equals(entry.getValue().runId()))
            .map(Map.Entry::getKey)
            .findFirst()
            .orElse(null);
  }

  private void noticeStart(StoreNode node, Started before, Answer answer) {
    Instant noticedAt = Instant.ofEpochMilli(answer.epoch().now());
    Instant asOf = answer.at(before.at()).minus(EpochHistory.MARGIN);
    if (before.runId() == null) {
      log.warn(
          "Redis at {} took the place of another one. It may lack changes that were acknowledged as"
              + " redis or synced from {} to {}, and jobs that ended then run again. Outboxes that"
              + " keep what they sent send it again; submit other jobs again",
          node.address(),
          asOf,
          noticedAt);
    } else if (node.persistence() != StoreNode.Persistence.SYNCED_LOG) {
      log.warn(
          "Redis at {} was restarted, or a replica was promoted. If only the process ended and Redis"
              + " keeps an append-only file, nothing is lost. Otherwise Redis may lack changes"
              + " acknowledged from {} to {} as redis (after a promotion, also as synced), and jobs"
              + " that ended in that time run again. Outboxes that keep what they sent send it"
              + " again; submit other jobs again",
          node.address(),
          asOf,
          noticedAt);
    } else {
      return;
    }
    unrecorded.add(
        new EpochMarker.Notice(
            // One process may be promoted more than once, each time with a new replication id.
            // After a restart, that changes only when a replica connects: it is left out.
            before.runId() == null
                ? "promoted " + node.runId() + " " + node.replicationId()
                : EpochMarker.RESTARTED + node.runId(),
            LossEntry.Kind.RESTARTED,
            noticedAt.toEpochMilli(),
            asOf.toEpochMilli()));
  }

  private static List<StoreLoss> newest(List<StoreLoss> losses) {
    return losses.subList(Math.max(0, losses.size() - LOSSES), losses.size());
  }

  private void inspect(List<StoreNode.Finding> confirming, Answer answer) {
    List<StoreNode> nodes = store.inspector().nodes();
    noticeStarts(nodes, answer);
    if (confirming.isEmpty() && !replicas.isEmpty()) {
      log.info("Replicas confirm writes again");
    }
    replicas = confirming;
    List<String> obstacles = store.inspector().obstacles(nodes);
    List<StoreNode.Finding> findings =
        Stream.of(
                nodes.stream().map(StoreNode::findings).flatMap(Collection::stream),
                store.inspector().failOver(context.options().lease()).stream(),
                confirming.stream())
            .flatMap(some -> some)
            .toList();
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
              false,
              store.inspector().durability().toString(),
              nodes,
              findings,
              obstacles,
              begun,
              mark,
              health.losses());
    }
  }

  private StoreHealth with(@Nullable String error, boolean refuses, List<StoreLoss> losses) {
    return new StoreHealth(
        error,
        refuses,
        health.durability(),
        health.nodes(),
        health.findings(),
        health.obstacles(),
        begun,
        mark,
        List.copyOf(losses));
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
  public static void requireFit(Store store) {
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
