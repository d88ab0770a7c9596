package io.punctual.spring.outbox;

import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.PunctualException;
import io.punctual.RescheduleResult;
import io.punctual.SubmitResult;
import io.punctual.TagCancelResult;
import io.punctual.TaskSubmitService.EventResult;
import io.punctual.spi.JobScheduler;
import io.punctual.spi.StoreLosses;
import io.punctual.spring.DeferredCall;
import io.punctual.spring.outbox.SentTable.Sent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.dao.ConcurrencyFailureException;

/**
 * Keeps what was sent, and sends it again when the store has lost it. What is sent again goes
 * through the outbox, in the lane of its job, so that it passes no earlier call and is passed by no
 * later one; which call that is, is read when it is its turn.
 */
final class Resend {

  private static final Logger log = LoggerFactory.getLogger(Resend.class);
  private static final Duration LOOK = Duration.ofSeconds(5);

  // What ended a moment ago another instance may not have written as sent yet.
  private static final Duration SETTLED = Duration.ofSeconds(2);
  private static final int FORGOTTEN_AT_ONCE = 500;

  private final Outbox outbox;
  private final OutboxTable table;
  private final SentTable sent;
  private final ResendTable resends;
  private final JobScheduler scheduler;
  private long looked = System.nanoTime() - LOOK.toNanos();
  private boolean goesOn;
  private boolean failing;
  // The changes of the store that were told.
  private final Set<String> told = new HashSet<>();

  Resend(Outbox outbox, JobScheduler scheduler, Duration keepSent) {
    this.outbox = outbox;
    this.table = outbox.table();
    this.sent = outbox.sentTable(keepSent);
    this.resends = outbox.resendTable();
    this.scheduler = scheduler;
  }

  /**
   * A call that was made.
   *
   * @param sent what is kept of the job, where it was sent again
   */
  record Made(OutboxTable.Row row, DeferredCall call, @Nullable Sent sent, Object result) {}

  void begin() {
    sent.require();
    resends.create();
  }

  /** Returns what was sent for the jobs of those rows that are to be sent again, by lane. */
  Map<String, Sent> wanted(List<OutboxTable.Row> rows) {
    Map<String, Sent> found =
        sent.find(
            rows.stream().filter(OutboxTable.Row::isResend).map(OutboxTable.Row::lane).toList());
    Map<String, Sent> byTag =
        sent.find(found.values().stream().flatMap(Resend::tagLanes).distinct().toList());
    if (!byTag.isEmpty()) {
      found.replaceAll((lane, one) -> isCancelled(one, byTag) ? cancelled(one) : one);
    }
    return found;
  }

  private static Stream<String> tagLanes(Sent wanted) {
    try {
      return StoredCalls.read(wanted.kind(), wanted.content()) instanceof DeferredCall.Send send
          ? send.job().tags().stream().map(SentTable::laneOf)
          : Stream.empty();
    } catch (IllegalArgumentException e) {
      // The call fails with the same error when it is made.
      return Stream.empty();
    }
  }

  // Nothing goes beside a cancel by tag, so that times tell what was sent before it.
  private static boolean isCancelled(Sent wanted, Map<String, Sent> byTag) {
    return tagLanes(wanted)
        .map(byTag::get)
        .anyMatch(cancel -> cancel != null && cancel.sentAt() > wanted.sentAt());
  }

  private static Sent cancelled(Sent wanted) {
    return cancel(
        new DeferredCall.Cancel(
            wanted.taskType(), wanted.lane().substring(wanted.taskType().length() + 1)),
        wanted.createdAt());
  }

  /** Returns the jobs of calls whose answers are not written down yet. */
  private List<ResendTable.Job> underWay() {
    List<ResendTable.Job> jobs = new ArrayList<>();
    for (OutboxTable.Row row : table.underWay()) {
      if (!row.lane().equals(DeferredCall.ALL_JOBS)) {
        jobs.add(new ResendTable.Job(row.lane(), row.type(), 0));
      } else if (StoredCalls.read(row.kind(), row.content())
          instanceof DeferredCall.CancelByTag byTag) {
        sent.withTag(byTag.tag())
            .forEach(one -> jobs.add(new ResendTable.Job(one.lane(), one.taskType(), 0)));
      }
    }
    return jobs;
  }

  /** Returns the call that leaves a job as it was wanted last. */
  static DeferredCall call(Sent wanted) {
    DeferredCall call = StoredCalls.read(wanted.kind(), wanted.content());
    return call instanceof DeferredCall.Send send
            && (wanted.moved() || (send.job().delay() != null && !send.job().delay().isZero()))
        ? new DeferredCall.Restore(send.job(), wanted.dueAt(), wanted.moved())
        : call;
  }

  /** Keeps what was made, on the connection of this thread's transaction. */
  void keep(List<Made> all) {
    SentTable.Changes changes =
        new SentTable.Changes(
            new ArrayList<>(), new ArrayList<>(), new HashMap<>(), new HashSet<>());
    long missing = 0;
    long present = 0;
    for (Made made : all) {
      Sent again = made.sent();
      if (again == null) {
        add(made, changes);
      } else if (isMissing(made.result())) {
        // Sent now, as far as the next loss is concerned.
        changes.wanted().add(restored(made, again));
        missing++;
      } else {
        if (isDone(made.result())) {
          changes.ended().add(again.lane());
        } else if (made.call() instanceof DeferredCall.Cancel) {
          // The row may be that of the job still: it was cancelled by its tag.
          changes.wanted().add(restored(made, again));
        }
        present++;
      }
    }
    sent.write(changes);
    resends.count(missing, present, 0);
  }

  private static boolean isMissing(Object result) {
    return result instanceof SubmitResult submitted
        ? submitted.outcome() == SubmitResult.Outcome.CREATED
        : result instanceof CancelResult cancelled && cancelled.cancelled();
  }

  private static boolean isDone(Object result) {
    return result instanceof SubmitResult submitted
        && (submitted.outcome() == SubmitResult.Outcome.ALREADY_DONE
            || submitted.outcome() == SubmitResult.Outcome.CANCELLED_BY_EVENT);
  }

  private static Sent restored(Made made, Sent again) {
    String content =
        made.call() instanceof DeferredCall.Restore restore && restore.moved()
            ? StoredCalls.write(new DeferredCall.Send(restore.atDueTime()))
            : again.content();
    return new Sent(
        again.lane(),
        again.taskType(),
        again.kind(),
        content,
        again.dueAt(),
        false,
        made.row().createdAt());
  }

  private void add(Made made, SentTable.Changes changes) {
    DeferredCall call = made.call();
    String lane = made.row().lane();
    if (made.result() instanceof SubmitResult result) {
      if (isDone(result)) {
        changes.ended().add(lane);
      } else if (result.outcome() == SubmitResult.Outcome.ALREADY_THERE) {
        changes.unchanged().add(sent(made.row(), result.dueAt(), true));
      } else {
        changes.wanted().add(sent(made.row(), result.dueAt(), false));
      }
    } else if (call instanceof DeferredCall.Cancel cancel) {
      changes.wanted().add(cancel(cancel, made.row().createdAt()));
    } else if (made.result() instanceof TagCancelResult result
        && call instanceof DeferredCall.CancelByTag byTag) {
      // No answer names the jobs that Redis has lost: a resend looks for this row.
      changes
          .wanted()
          .add(
              new Sent(
                  SentTable.laneOf(byTag.tag()),
                  made.row().type(),
                  made.row().kind(),
                  made.row().content(),
                  Instant.EPOCH,
                  false,
                  made.row().createdAt()));
      // Of a call that was made before, the answer is not known: it may have named more jobs.
      Set<DeferredCall.Cancel> cancels =
          made.row().attempts() > 1 ? sent.withTag(byTag.tag()) : new HashSet<>();
      result.items().stream()
          .filter(item -> item.outcome() == CancelResult.Outcome.CANCELLED)
          .forEach(item -> cancels.add(new DeferredCall.Cancel(item.taskType(), item.taskId())));
      cancels.forEach(cancel -> changes.wanted().add(cancel(cancel, made.row().createdAt())));
    } else if (made.result() instanceof EventResult result) {
      result.items().stream()
          .filter(item -> item.outcome() == EventResult.Outcome.DUE)
          .map(item -> new DeferredCall.Cancel(item.taskType(), item.taskId()).lane())
          .forEach(due -> changes.moved().put(due, new SentTable.Moved(Instant.now(), true)));
      result.items().stream()
          .filter(
              item ->
                  item.outcome() == EventResult.Outcome.CANCELLED
                      || item.outcome() == EventResult.Outcome.CANCELLING)
          .map(item -> new DeferredCall.Cancel(item.taskType(), item.taskId()))
          .forEach(cancel -> changes.wanted().add(cancel(cancel, made.row().createdAt())));
    } else if (made.result() instanceof RescheduleResult result
        && call instanceof DeferredCall.Reschedule move) {
      if (result.outcome() == RescheduleResult.Outcome.FINISHED) {
        changes.ended().add(lane);
      } else if (result.dueAt() != null) {
        changes.moved().put(lane, new SentTable.Moved(result.dueAt(), true));
      } else if (result.outcome() == RescheduleResult.Outcome.UNKNOWN) {
        // The store may have lost it: then it comes back with the new due time.
        changes.moved().put(lane, new SentTable.Moved(dueAt(move), false));
      }
    } else if (call instanceof DeferredCall.Finish
        && made.result() instanceof DeferralResult result
        && result.outcome() != DeferralResult.Outcome.LEASE_LOST) {
      changes.ended().add(lane);
    }
  }

  private static Instant dueAt(DeferredCall.Reschedule move) {
    return move.dueAt() != null
        ? move.dueAt()
        : Instant.now().plus(move.delay() == null ? Duration.ZERO : move.delay());
  }

  private static Sent sent(OutboxTable.Row row, Instant dueAt, boolean moved) {
    return new Sent(
        row.lane(), row.type(), row.kind(), row.content(), dueAt, moved, row.createdAt());
  }

  private static Sent cancel(DeferredCall.Cancel cancel, long createdAt) {
    return new Sent(
        cancel.lane(),
        cancel.taskType(),
        cancel.kind().toString(),
        StoredCalls.write(cancel),
        Instant.EPOCH,
        false,
        createdAt);
  }

  /** A job could not be sent again, and never will. */
  void refused() {
    outbox.commit(() -> resends.count(0, 0, 1));
  }

  /** Jobs of which nothing is known any more. */
  void settledWithoutCall(int number) {
    outbox.commit(() -> resends.count(0, number, 0));
  }

  /** Looks for losses now and then, and goes on with sending again. Throws nothing. */
  void tryStep() {
    try {
      step();
    } catch (ConcurrencyFailureException e) {
      log.debug("Another instance was at the same rows", e);
    } catch (RuntimeException e) {
      failed(e);
    }
  }

  private void failed(RuntimeException e) {
    log.atLevel(failing ? Level.DEBUG : Level.WARN)
        .log(
            "Punctual: the outbox cannot see whether Redis lost jobs, trying again: {}",
            e.toString());
    failing = true;
  }

  private void step() {
    long now = System.nanoTime();
    if (now - looked >= LOOK.toNanos()) {
      looked = now;
      look();
      goesOn = resends.goesOn();
    }
    forgetEnded(goesOn ? Duration.ZERO : SETTLED);
    if (goesOn) {
      ResendStatus ended = resends.feed(table);
      if (ended != null) {
        goesOn = false;
        log.info(
            "Punctual: sending again has ended after {}: {} jobs were missing and are back, or were"
                + " cancelled again; {} were as they should be; {} were refused, and stay in"
                + " punctual_outbox with refused = 1",
            Duration.between(ended.begunAt(), ended.endedAt()),
            ended.missing(),
            ended.present(),
            ended.refused());
      }
    }
  }

  /** Whether the next step is due before the outbox is looked at. */
  boolean isBusy() {
    return goesOn;
  }

  private void look() {
    if (!resends.claimLook(LOOK)) {
      return;
    }
    try {
      StoreLosses losses = scheduler.storeLosses();
      ResendTable.Noticed noticed = resends.notice(losses, table, this::underWay);
      if (failing) {
        failing = false;
        log.info("Punctual: the outbox sees again whether Redis lost jobs");
      }
      if (noticed != null && noticed.other() != null) {
        log.atLevel(told.add(noticed.other() + " " + losses.store()) ? Level.WARN : Level.DEBUG)
            .log(
                "Punctual: the outbox now sends to another Redis, {}, which began {}, and not to {}."
                    + " Nothing is sent again, since jobs may still wait in the earlier one. If it"
                    + " lost them, call POST /api/v1/store/losses/resend with a time in since."
                    + " If both answer in turn, two installations of schedulers have the same"
                    + " service id: give one of them another service id",
                losses.store(),
                losses.begun(),
                noticed.other());
      } else if (noticed != null) {
        ResendStatus begun = resends.status();
        log.warn(
            "Punctual: Redis may have lost jobs, or an operator asked for it. {} jobs that were sent"
                + " {} are sent again, 500 a second at most",
            noticed.jobs(),
            begun == null || begun.since() == null ? "before" : "since " + begun.since());
      }
    } catch (PunctualException e) {
      failed(e);
    }
  }

  /** Forgets jobs that ended in this instance. */
  void forgetEnded(Duration atLeast) {
    List<SentTable.Ended> ended = outbox.ended(FORGOTTEN_AT_ONCE, atLeast);
    while (!ended.isEmpty()) {
      sent.forget(ended);
      ended = outbox.ended(FORGOTTEN_AT_ONCE, atLeast);
    }
  }

  void clean() {
    sent.clean();
  }
}
