package io.punctual.server.console;

import io.punctual.core.StoreHealth;
import io.punctual.core.job.QueueName;
import io.punctual.server.doctor.Diagnosis;
import io.punctual.server.doctor.Status;
import io.punctual.server.doctor.WorkerReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Something that somebody ought to look at.
 *
 * @param kind names the text: {@code attention.<kind>}
 * @param grave whether jobs are late or in danger because of it
 * @param queue which queue; null where it is about all
 * @param count how many jobs, or ms, the text speaks of
 * @param text what the scheduler itself says of it; null where the kind says all
 */
record Attention(
    String kind, boolean grave, @Nullable QueueName queue, long count, @Nullable String text) {

  private static final int MAX = 50;

  /** What comes first, first. */
  static List<Attention> of(Board.Snapshot board, StoreHealth store, List<WorkerReport> workers) {
    List<Attention> found = new ArrayList<>();
    String error = store.error();
    if (error != null) {
      found.add(new Attention("store-away", true, null, 0, error));
    }
    store.obstacles().forEach(text -> found.add(new Attention("obstacle", true, null, 0, text)));
    store
        .losses()
        .forEach(
            loss ->
                found.add(
                    new Attention("loss", true, null, loss.at().toEpochMilli(), loss.text())));
    store
        .findings()
        .forEach(
            finding ->
                found.add(
                    new Attention(
                        finding.unsafe() ? "unsafe" : "finding",
                        finding.unsafe(),
                        null,
                        0,
                        finding.text())));
    for (WorkerReport worker : workers) {
      Diagnosis diagnosis = worker.diagnosis();
      if (diagnosis != null && diagnosis.status() == Status.PROBLEM && found.size() < MAX) {
        found.add(
            new Attention("unreached", false, null, 0, worker.key() + ": " + diagnosis.seen()));
      }
    }
    List<Attention> queues = new ArrayList<>();
    for (Board.Row row : board.all()) {
      of(row, queues);
    }
    queues.sort(Comparator.comparing(Attention::grave).thenComparing(Attention::count).reversed());
    found.addAll(queues.subList(0, Math.min(MAX, queues.size())));
    found.sort(Comparator.comparing(Attention::grave).reversed());
    return found;
  }

  private static void of(Board.Row row, List<Attention> found) {
    QueueName queue = row.queue();
    switch (row.state()) {
      case FAILING -> found.add(new Attention("failing", true, queue, row.stats().ready(), null));
      case PARKED ->
          found.add(
              new Attention(
                  row.workers() == 0 ? "no-worker" : "parked",
                  true,
                  queue,
                  row.stats().ready(),
                  null));
      case LATE -> found.add(new Attention("late", true, queue, row.readyAge(), null));
      case DAMAGED -> {
        found.add(new Attention("damaged", true, queue, 0, row.stats().damage()));
        return;
      }
      case PAUSED -> found.add(new Attention("paused", false, queue, row.stats().ready(), null));
      case WELL -> {}
    }
    if (row.stats().dead() > 0) {
      found.add(new Attention("dead", false, queue, row.stats().dead(), null));
    }
  }
}
