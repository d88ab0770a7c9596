package io.punctual.spring.outbox;

import io.punctual.ErrorCode;
import io.punctual.PunctualException;
import io.punctual.SchedulerUnavailableException;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.Circuits;
import io.punctual.spring.CommitFailures;
import io.punctual.spring.CommitFailures.Call;
import io.punctual.spring.DeferredCall;
import io.punctual.spring.DeferredCalls;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;

/**
 * Makes the calls that the outbox holds. Each instance of an application has one; what one of them
 * has claimed, the others leave to it until the lease is over, since it may have died. A job that
 * is sent twice because of that is one job, as long as schedulers know of the first: while it is
 * there, and for {@code punctual.tombstones} after it is done, of which a lease is at most half.
 */
public final class OutboxRelay implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);
  private static final int BATCH = 100;
  private static final Duration MIN_PAUSE = Duration.ofSeconds(1);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(15);
  private static final Duration MAX_DELAY = Duration.ofMinutes(1);
  private static final Duration RESEND_PAUSE = Duration.ofMillis(50);
  private static final Duration CLEANING = Duration.ofHours(1);
  private static final Duration BLOCKED_TOO_LONG = Duration.ofMinutes(1);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** So many requests one behind the other that nobody takes are no fault of theirs. */
  private static final int ENOUGH = 2;

  /** Where nobody was let in. */
  private static final Set<ErrorCode> CLOSED_DOORS =
      Set.of(ErrorCode.UNAUTHENTICATED, ErrorCode.FORBIDDEN);

  /** What repeating does not cure. */
  private static final Set<ErrorCode> REFUSALS =
      Set.of(ErrorCode.CONFLICT, ErrorCode.INVALID, ErrorCode.TOO_LARGE);

  private final Outbox outbox;
  private final OutboxTable table;
  private final JobScheduler scheduler;
  private final CommitFailures failures;
  private final OutboxOptions options;
  private final @Nullable Resend resend;
  private volatile @Nullable Work work;

  public OutboxRelay(Outbox outbox, JobScheduler scheduler, OutboxOptions options) {
    this.outbox = outbox;
    this.table = outbox.table();
    this.scheduler = scheduler;
    this.failures = outbox.failures();
    this.options = options;
    Duration keepSent = options.keepSent();
    this.resend = keepSent == null ? null : new Resend(outbox, scheduler, keepSent);
  }

  /** What became of a round. */
  private enum Round {
    /** There was nothing to do. */
    IDLE,
    /** There may be more to do. */
    BUSY,
    /** No scheduler takes anything. */
    UNAVAILABLE
  }

  /** From a start to a stop. */
  private final class Work implements Runnable {

    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Semaphore committed = new Semaphore(0);
    private final Thread thread = new Thread(this, "punctual-outbox");
    // Two threads: one to see that the other one hangs.
    private final ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(2, OutboxRelay::leaseThread);
    private long cleaned = System.nanoTime() - CLEANING.toNanos();
    private final Circuits circuits = new Circuits(failures -> delay(failures, MAX_PAUSE));
    // One behind the other: rounds without an answer, and looks without a database.
    private int troubles;
    private int faults;
    // The last row that was told to be blocked.
    private long told = Long.MIN_VALUE;

    void start() {
      timer.setRemoveOnCancelPolicy(true);
      thread.setDaemon(true);
      thread.start();
    }

    boolean goesOn() {
      return stopped.getCount() > 0;
    }

    void wake() {
      if (committed.availablePermits() == 0) {
        committed.release();
      }
    }

    void stop() throws InterruptedException {
      stopped.countDown();
      wake();
      try {
        thread.join(PATIENCE.toMillis());
        thread.interrupt();
        thread.join(MIN_PAUSE.toMillis());
      } finally {
        timer.shutdownNow();
      }
    }

    @Override
    public void run() {
      while (goesOn()) {
        try {
          step();
        } catch (InterruptedException e) {
          // Nobody but stop does that.
          return;
        }
      }
      if (resend != null) {
        try {
          resend.forgetEnded(Duration.ZERO);
        } catch (RuntimeException e) {
          log.debug("Jobs that ended are kept, and may be sent again", e);
        }
      }
    }

    private void step() throws InterruptedException {
      // Before the look: what is committed behind it wakes again.
      var unused = committed.drainPermits();
      Round round;
      try {
        clean();
        if (resend != null && troubles == 0) {
          resend.tryStep();
        }
        round = round(this);
        if (faults > 0) {
          log.info("Punctual: the outbox can be read again");
          faults = 0;
        }
      } catch (ConcurrencyFailureException e) {
        log.debug("Another relay was at the same rows", e);
        return;
      } catch (RuntimeException | Error e) {
        if (goesOn()) {
          log.atLevel(faults == 0 ? Level.ERROR : Level.DEBUG)
              .setCause(e)
              .log(
                  "Punctual: the outbox (table punctual_outbox) cannot be relayed, trying again: {}",
                  e.getMessage());
        }
        pause(delay(++faults, MAX_PAUSE));
        return;
      }
      if (round == Round.UNAVAILABLE) {
        pause(delay(++troubles, MAX_PAUSE));
      } else if (round == Round.IDLE) {
        Duration pause = resend != null && resend.isBusy() ? RESEND_PAUSE : options.pollInterval();
        var unusedWoken = committed.tryAcquire(pause.toNanos(), TimeUnit.NANOSECONDS);
      }
    }

    private void pause(Duration time) throws InterruptedException {
      var unused = stopped.await(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    void answered() {
      if (troubles > 0) {
        log.info("Punctual: the outbox is relayed again");
        troubles = 0;
      }
    }

    // Once for each: it may be no more than a long backlog, and metrics tell the rest.
    void saw(OutboxTable.@Nullable Blocked blocked) {
      if (blocked != null
          && blocked.id() != told
          && blocked.age().compareTo(BLOCKED_TOO_LONG) > 0) {
        told = blocked.id();
        log.warn(
            "Punctual: the {}, row {} of punctual_outbox, has waited for {}, and all later calls wait"
                + " behind it. It waits for earlier rows, the first of which is {}, of {}: fix what"
                + " its error says, or delete it.",
            Call.CANCEL_BY_TAG,
            blocked.id(),
            blocked.age().truncatedTo(ChronoUnit.SECONDS),
            blocked.by(),
            blocked.lane());
      }
    }

    private void clean() {
      if (System.nanoTime() - cleaned >= CLEANING.toNanos()) {
        cleaned = System.nanoTime();
        if (resend != null) {
          resend.clean();
        }
        int deleted = table.deleteRefused(options.keepRefused());
        if (deleted > 0) {
          log.info(
              "Punctual: {} refused calls, older than {}, were removed from the outbox",
              deleted,
              options.keepRefused());
        }
      }
    }
  }

  private static Thread leaseThread(Runnable task) {
    Thread thread = new Thread(task, "punctual-outbox-lease");
    thread.setDaemon(true);
    return thread;
  }

  /** A second, doubled with each failure, up to a bound; a quarter of it is random. */
  private static Duration delay(int failures, Duration most) {
    long ms = Math.min(most.toMillis(), MIN_PAUSE.toMillis() << Math.min(failures - 1, 10));
    return Duration.ofMillis(ms - ThreadLocalRandom.current().nextLong(ms / 4));
  }

  /**
   * @param sent what is kept of the job, where it is to be sent again
   */
  private record Claimed(OutboxTable.Row row, DeferredCall call, SentTable.@Nullable Sent sent) {}

  /**
   * Makes all calls that can be made now, also those that failed a moment ago, on this thread,
   * which must be in no transaction. For who wants to say when that happens, in the place of {@link
   * #start}: tests.
   *
   * @throws DataAccessException if the table cannot be read or written
   */
  public void relay() {
    table.hurry();
    Work here = new Work();
    try {
      Round round;
      do {
        round = round(here);
      } while (round == Round.BUSY);
    } finally {
      here.timer.shutdownNow();
    }
  }

  private Round round(Work mine) {
    OutboxTable.Ready found = table.ready(BATCH, mine.circuits.open());
    mine.saw(found.blocked());
    List<Long> ready = found.ids();
    if (ready.isEmpty()) {
      return Round.IDLE;
    }
    String claim = UUID.randomUUID().toString();
    long started = System.nanoTime();
    List<Claimed> claimed = new ArrayList<>();
    List<OutboxTable.Row> rows = table.claim(ready, claim, options.lease());
    Map<String, SentTable.Sent> wanted = resend == null ? Map.of() : resend.wanted(rows);
    List<Long> unwanted = new ArrayList<>();
    for (OutboxTable.Row row : rows) {
      SentTable.Sent sent = row.isResend() ? wanted.get(row.lane()) : null;
      try {
        if (sent != null) {
          claimed.add(new Claimed(row, Resend.call(sent), sent));
        } else if (row.isResend()) {
          unwanted.add(row.id());
        } else {
          claimed.add(new Claimed(row, StoredCalls.read(row.kind(), row.content()), null));
        }
      } catch (IllegalArgumentException e) {
        failed(row, claim, row.kind() + " of " + row.lane(), e);
      }
    }
    if (!unwanted.isEmpty()) {
      table.delete(unwanted, claim);
      if (resend != null) {
        resend.settledWithoutCall(unwanted.size());
      }
    }
    // Each is of another job, so that their order is free: what fails goes behind what has not
    // failed yet, and jobs side by side share requests.
    claimed.sort(
        Comparator.comparingInt((Claimed one) -> one.row().attempts())
            .thenComparing(one -> !(one.call() instanceof DeferredCall.Send)));
    List<Long> ids = claimed.stream().map(one -> one.row().id()).toList();
    KeptClaim kept = new KeptClaim(table, ids, claim, options.lease(), started, mine.timer);
    Outcomes outcomes = new Outcomes(mine, claimed, kept);
    try {
      DeferredCalls.make(scheduler, claimed.stream().map(Claimed::call).toList(), outcomes);
    } finally {
      kept.end();
      settle(claimed, claim, outcomes);
    }
    return outcomes.isUnavailable() ? Round.UNAVAILABLE : Round.BUSY;
  }

  /** What became of each call; null where it was not made. */
  private static final class Outcomes implements DeferredCalls.Results {

    private final Work mine;
    private final KeptClaim kept;
    private final List<Claimed> claimed;
    private final boolean[] made;
    private final @Nullable Object[] results;
    private final @Nullable Throwable[] errors;
    // Task types of which a call was not answered, and those of which one succeeded.
    private final Set<String> silent = new HashSet<>();
    private final Set<String> sound = new HashSet<>();
    private final Set<String> told = new HashSet<>();
    // Jobs of one request share its error.
    private @Nullable Throwable last;
    private String lastType = "";
    private int unanswered;

    Outcomes(Work mine, List<Claimed> claimed, KeptClaim kept) {
      this.mine = mine;
      this.kept = kept;
      this.claimed = claimed;
      this.made = new boolean[claimed.size()];
      this.results = new @Nullable Object[claimed.size()];
      this.errors = new @Nullable Throwable[claimed.size()];
    }

    @Override
    public boolean goesOn() {
      return mine.goesOn() && !isUnavailable() && kept.isOurs();
    }

    // A job may be what breaks the request; the others must not go down with it again.
    @Override
    public boolean goesAlone(int index) {
      return claimed.get(index).row().attempts() > 1;
    }

    @Override
    public boolean isWanted(int index) {
      return !silent.contains(claimed.get(index).row().type());
    }

    @Override
    public void made(int index, @Nullable Object result, @Nullable Throwable error) {
      made[index] = true;
      results[index] = result;
      errors[index] = error;
      String type = claimed.get(index).row().type();
      if (!isUnanswered(error)) {
        unanswered = 0;
        silent.remove(type);
        if (error == null) {
          sound.add(type);
        }
        mine.circuits.answered(type);
        mine.answered();
      } else if (error != last) {
        unanswered++;
        lastType = type;
        if (!sound.contains(type)) {
          silent.add(type);
        }
      } else if (!type.equals(lastType)) {
        // Of many jobs in one request: nobody knows whose fault it is.
        silent.remove(lastType);
      }
      last = error;
    }

    boolean isUnavailable() {
      return unanswered >= ENOUGH;
    }
  }

  private void settle(List<Claimed> claimed, String claim, Outcomes outcomes) {
    List<Long> done = new ArrayList<>();
    List<Long> untried = new ArrayList<>();
    for (int i = 0; i < claimed.size(); i++) {
      OutboxTable.Row row = claimed.get(i).row();
      Throwable error = outcomes.errors[i];
      if (!outcomes.made[i]) {
        untried.add(row.id());
      } else if (error == null) {
        done.add(row.id());
      } else if (isUnanswered(error)) {
        unanswered(claimed.get(i), claim, error, outcomes);
      } else if (error instanceof PunctualException known && REFUSALS.contains(known.code())) {
        refused(claimed.get(i), claim, known);
      } else {
        failed(row, claim, described(claimed.get(i).call()), error);
      }
    }
    delete(done, claim, claimed, outcomes);
    table.release(untried, claim);
    Throwable last = outcomes.last;
    if (outcomes.isUnavailable() && last != null && outcomes.mine.troubles == 0) {
      log.warn(
          "Punctual: no scheduler takes what is in the outbox, trying again: {}",
          last.getMessage());
    }
  }

  private void delete(List<Long> done, String claim, List<Claimed> claimed, Outcomes outcomes) {
    if (resend == null) {
      table.delete(done, claim);
      return;
    }
    table.delete(
        done,
        claim,
        ours -> {
          List<Resend.Made> made = new ArrayList<>();
          for (int i = 0; i < claimed.size(); i++) {
            Claimed one = claimed.get(i);
            Object result = outcomes.results[i];
            if (result != null && ours.contains(one.row().id())) {
              made.add(new Resend.Made(one.row(), one.call(), one.sent(), result));
            }
          }
          resend.keep(made);
        });
  }

  // It may be the fault of the row, or of its queue: others go before it.
  private void unanswered(Claimed one, String claim, Throwable error, Outcomes outcomes) {
    OutboxTable.Row row = one.row();
    Duration delay = delay(row.attempts(), MAX_PAUSE);
    table.failed(row.id(), claim, String.valueOf(error.getMessage()), delay);
    if (outcomes.silent.contains(row.type()) && outcomes.told.add(row.type())) {
      boolean first = outcomes.mine.circuits.failed(row.type());
      log.atLevel(first ? Level.WARN : Level.DEBUG)
          .log(
              "Punctual: the {}, row {} of punctual_outbox, was not answered (attempt {}). It is made"
                  + " again in {}; until calls of {} are answered, they are tried one at a time, and"
                  + " those of other task types go on: {}",
              described(one.call()),
              row.id(),
              row.attempts(),
              delay,
              row.type(),
              error.getMessage());
    }
  }

  private static boolean isUnanswered(@Nullable Throwable error) {
    return error instanceof SchedulerUnavailableException
        || (error instanceof PunctualException known && CLOSED_DOORS.contains(known.code()));
  }

  private static String described(DeferredCall call) {
    return call.kind() + " of " + call.target();
  }

  private void failed(OutboxTable.Row row, String claim, String what, Throwable error) {
    Duration delay = delay(row.attempts(), MAX_DELAY);
    table.failed(row.id(), claim, String.valueOf(error.getMessage()), delay);
    boolean passes = error instanceof PunctualException known && known.isTransient();
    log.atLevel(passes ? Level.WARN : Level.ERROR)
        .setCause(error)
        .log(
            "Punctual: the {}, row {} of punctual_outbox, failed (attempt {}), and will be made"
                + " again in {}: {}",
            what,
            row.id(),
            row.attempts(),
            delay,
            error.getMessage());
  }

  private void refused(Claimed claimed, String claim, PunctualException error) {
    table.refused(claimed.row().id(), claim, String.valueOf(error.getMessage()));
    if (resend != null && claimed.row().isResend()) {
      resend.refused();
    }
    log.atError()
        .setCause(error)
        .log(
            "The transaction committed, but the {} that was to follow is REFUSED: {}. Row {} of"
                + " punctual_outbox keeps it, with refused = 1; fix what it says and set"
                + " refused = 0, or delete it.",
            described(claimed.call()),
            error.getMessage(),
            claimed.row().id());
    failures.failed(claimed.call().kind(), error);
  }

  @Override
  public synchronized void start() {
    if (work == null) {
      table.require();
      if (resend != null) {
        resend.begin();
      }
      Work started = new Work();
      work = started;
      outbox.onCommit(started::wake);
      started.start();
    }
  }

  @Override
  public synchronized void stop() {
    Work ending = work;
    work = null;
    if (ending != null) {
      try {
        ending.stop();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public boolean isRunning() {
    return work != null;
  }

  // Ends behind the web server and the workers, whose last commits it still takes.
  @Override
  public int getPhase() {
    return SmartLifecycle.DEFAULT_PHASE - 8192;
  }
}
