package io.punctual.core.deliver;

import io.punctual.core.DeathCause;
import io.punctual.core.QueueListener;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.LogFields;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.internal.OneLine;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Adds up how the attempts of one call ended, and tells of them together. */
final class OutcomeCounts {

  private static final Logger log = LoggerFactory.getLogger(OutcomeCounts.class);
  private static final int MAX_REASON = 200;
  private static final Set<Settlement.Op> FAILURES =
      EnumSet.of(Settlement.Op.FAILED, Settlement.Op.REJECTED, Settlement.Op.UNKNOWN);

  private final QueueName queue;
  private final QueueListener listener;
  private final Map<Settlement.Op, Integer> ended = new EnumMap<>(Settlement.Op.class);
  private final List<ErrorNote> failures = new ArrayList<>();
  private int used;
  private int rejected;
  private int expired;
  private int dropped;
  private int lost;

  OutcomeCounts(QueueName queue, QueueListener listener) {
    this.queue = queue;
    this.listener = listener;
  }

  /** The store has answered so. */
  void add(Settlement settlement, Settled settled) {
    switch (settled.kind()) {
      case DONE, RETRY -> ended(settlement);
      case DEAD -> {
        ended(settlement);
        died(settlement);
      }
      case EXPIRED -> {
        expired++;
        // Otherwise nothing was tried.
        if (settlement.op() != Settlement.Op.EXPIRED) {
          ended(settlement);
        }
        LogFields.of(log.atWarn(), queue, settlement.taskId())
            .log(
                "Job {} of {} is a dead letter now: {} could not start in time",
                settlement.taskId(),
                queue,
                settlement.op() == Settlement.Op.EXPIRED ? "it" : "its next attempt");
      }
      case DROPPED -> dropped++;
      case LEASE_LOST -> lost++;
      case ALREADY_DONE, UNKNOWN -> {
        // Counted when it happened.
      }
      case CANCELLED -> {
        // Neither a success nor a failure.
      }
    }
  }

  private void ended(Settlement settlement) {
    ended.merge(settlement.op(), 1, Integer::sum);
    if (FAILURES.contains(settlement.op())) {
      failures.add(ErrorNote.decode(settlement.note()));
    }
  }

  private void died(Settlement settlement) {
    boolean never = settlement.op() == Settlement.Op.REJECTED;
    if (never) {
      rejected++;
    } else {
      used++;
    }
    ErrorNote note = ErrorNote.decode(settlement.note());
    LogFields.of(log.atWarn(), queue, settlement.taskId())
        .addKeyValue("punctual.instance", note.instance())
        .addKeyValue("punctual.release", note.release())
        .log(
            "Job {} of {} is a dead letter now: {}{}. Reason: {}",
            settlement.taskId(),
            queue,
            never ? "rejected" : "all attempts failed, the last",
            (note.instance().isEmpty() ? "" : " at " + note.instance())
                + (note.release().isEmpty() ? "" : ", release " + note.release()),
            OneLine.of(note.message(), MAX_REASON));
  }

  /** To be called once, when all have been added. */
  void tell() {
    ended.forEach(listener::ended);
    failures.forEach(listener::failed);
    if (used > 0) {
      listener.died(DeathCause.ATTEMPTS_USED, used);
    }
    if (rejected > 0) {
      listener.died(DeathCause.REJECTED, rejected);
    }
    if (expired > 0) {
      listener.died(DeathCause.EXPIRED, expired);
    }
    if (dropped > 0) {
      listener.dropped(dropped);
    }
    if (lost > 0) {
      listener.lost(lost);
    }
  }
}
