package io.punctual.server.migrate;

import io.punctual.wire.Limits;
import java.io.PrintStream;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Moves the jobs of a store to a scheduler, and counts them.
 *
 * @param <E> how the store tells jobs apart
 */
final class Move<E> {

  private static final int TAKEN_AT_ONCE = 500;
  private static final int MAX_BATCH_CHARS = 1 << 20;
  private static final int TOLD_EACH = 10_000;
  private static final int REASONS = 5;
  private static final int SHOWN = 5;
  private static final int LATER_MS = 1_000;
  private static final int MAX_IDLE = 30;

  private final OldStore<E> store;
  private final Submissions submissions;
  private final RemoteSchedules schedules;
  private final InstantSource clock;
  private final PrintStream out;
  private final PrintStream err;
  private long jobs;
  private long recurring;
  private long refused;
  private long changed;

  Move(
      OldStore<E> store,
      Submissions submissions,
      RemoteSchedules schedules,
      InstantSource clock,
      PrintStream out,
      PrintStream err) {
    this.store = store;
    this.submissions = submissions;
    this.schedules = schedules;
    this.clock = clock;
    this.out = out;
    this.err = err;
  }

  /** Jobs that are submitted together, with the entries that they were. */
  private record Batch<E>(List<E> entries, List<OldJob> jobs) {

    Batch() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    void add(E entry, OldJob job) {
      entries.add(entry);
      jobs.add(job);
    }
  }

  /** Returns how many were not moved, as they were refused or the old side changed them. */
  long notMoved() {
    return refused + changed;
  }

  /** Returns what was done so far, as a sentence. */
  String done() {
    String what = "%,d jobs".formatted(jobs);
    return (recurring == 0 ? what : what + " and %,d schedules".formatted(recurring))
        + " were moved.";
  }

  /** Describes what the store keeps, in sentences; empty if it keeps nothing. */
  String left() {
    return (refused == 0 ? "" : " %,d were refused and are where they were.".formatted(refused))
        + (changed == 0 ? "" : " %,d were changed by the old side meanwhile.".formatted(changed))
        + (store.busy() == 0
            ? ""
            : " %,d were left to the old side, which is about to run them."
                .formatted(store.busy()));
  }

  /** Moves all. */
  void run() throws UnavailableException, InterruptedException {
    do {
      // At first what an earlier run has left.
      Batch<E> batch = new Batch<>();
      int size = 0;
      for (E entry : store.taken()) {
        try {
          switch (readable(entry)) {
            case OldJob job -> {
              batch.add(entry, job);
              size += job.params().length();
            }
            case OldSchedule schedule -> move(entry, schedule);
          }
        } catch (UnreadableException e) {
          refuse(entry, String.valueOf(e.getMessage()));
        }
        if (size >= MAX_BATCH_CHARS) {
          submit(batch);
          batch = new Batch<>();
          size = 0;
        }
      }
      submit(batch);
      store.hold();
    } while (store.take(TAKEN_AT_ONCE) > 0);
  }

  /** Says what would be moved, and changes nothing. */
  void look() {
    long wouldMove = 0;
    int seen = 0;
    List<E> entries = store.look(seen, TAKEN_AT_ONCE);
    while (!entries.isEmpty()) {
      for (E entry : entries) {
        try {
          OldWork work = readable(entry);
          wouldMove++;
          show(work, wouldMove);
        } catch (UnreadableException e) {
          tell(entry, String.valueOf(e.getMessage()));
        }
      }
      seen += entries.size();
      entries = store.look(seen, TAKEN_AT_ONCE);
    }
    out.println(
        "%,d would be moved, and %,d be refused. Nothing was changed."
            .formatted(wouldMove, refused));
  }

  private void show(OldWork work, long number) {
    switch (work) {
      case OldJob job -> {
        if (number <= SHOWN) {
          out.println("job %s, due at %s".formatted(job.id(), Instant.ofEpochMilli(job.dueAt())));
        }
      }
      case OldSchedule schedule ->
          out.println(
              "schedule %s, '%s' there, %s here: next at %s"
                  .formatted(
                      schedule.id(),
                      schedule.original(),
                      schedule.rule(),
                      String.join(
                          ", ", schedule.next(3).stream().map(Instant::toString).toList())));
    }
  }

  private OldWork readable(E entry) throws UnreadableException {
    OldWork work = store.read(entry);
    String params =
        switch (work) {
          case OldJob job -> job.params();
          case OldSchedule schedule -> schedule.schedule().params();
        };
    if (!Limits.isParams(params)) {
      throw new UnreadableException(
          "has a payload of more than %,d bytes".formatted(Limits.MAX_PARAMS_BYTES));
    }
    return work;
  }

  private void submit(Batch<E> batch) throws UnavailableException, InterruptedException {
    Batch<E> left = batch;
    int idle = 0;
    while (!left.jobs().isEmpty()) {
      store.hold();
      List<Submissions.Result> results = submissions.submit(left.jobs());
      Batch<E> stored = new Batch<>();
      Batch<E> later = new Batch<>();
      String why = "";
      for (int i = 0; i < results.size(); i++) {
        E entry = left.entries().get(i);
        switch (results.get(i).kind()) {
          case STORED -> stored.add(entry, left.jobs().get(i));
          case REFUSED -> refuse(entry, "was refused: " + results.get(i).why());
          case LATER -> {
            later.add(entry, left.jobs().get(i));
            why = results.get(i).why();
          }
        }
      }
      moved(stored);
      idle = later.jobs().size() < left.jobs().size() ? 0 : idle + 1;
      requireRoom(idle, why);
      if (!later.jobs().isEmpty()) {
        Thread.sleep(LATER_MS);
      }
      left = later;
    }
  }

  private static void requireRoom(int idle, String why) throws UnavailableException {
    if (idle > MAX_IDLE) {
      throw new UnavailableException("The scheduler takes no jobs now: " + why);
    }
  }

  private void moved(Batch<E> stored) throws UnavailableException, InterruptedException {
    if (stored.entries().isEmpty()) {
      return;
    }
    List<E> theirs = store.moved(stored.entries(), stored.jobs());
    for (E entry : theirs) {
      OldJob job = stored.jobs().get(stored.entries().indexOf(entry));
      changed(
          entry,
          submissions.cancel(job)
              ? "it was cancelled in Punctual"
              : "Punctual has begun it: look whether it ran twice");
    }
    long before = jobs;
    jobs += stored.jobs().size() - theirs.size();
    if (before / TOLD_EACH != jobs / TOLD_EACH) {
      out.println("%,d jobs moved".formatted(jobs));
    }
  }

  private void move(E entry, OldSchedule schedule)
      throws UnavailableException, InterruptedException {
    for (int idle = 1; ; idle++) {
      store.hold();
      Instant now = clock.instant();
      Instant begin = schedule.begin(now);
      if (begin != null) {
        RemoteSchedules.Put put = schedules.put(schedule, begin);
        switch (put.result().kind()) {
          case STORED -> begin = put.begin();
          case REFUSED -> {
            refuse(entry, "was refused: " + put.result().why());
            return;
          }
          case LATER -> {
            requireRoom(idle, put.result().why());
            Thread.sleep(LATER_MS);
            continue;
          }
        }
      }
      between(schedule, begin, now);
      if (!store.moved(List.of(entry), List.of(schedule)).isEmpty()) {
        for (OldJob job : schedule.between(begin, now)) {
          boolean unused = submissions.cancel(job);
        }
        changed(
            entry,
            schedules.delete(schedule)
                ? "its schedule was deleted in Punctual"
                : "its schedule could not be deleted in Punctual: do so, else it runs twice");
        return;
      }
      recurring++;
      out.println(
          "schedule %s moved, '%s' there, %s here"
              .formatted(schedule.id(), schedule.original(), schedule.rule()));
      return;
    }
  }

  /** Submits what is planned before the new schedule begins. */
  private void between(OldSchedule schedule, @Nullable Instant begin, Instant now)
      throws UnavailableException, InterruptedException {
    List<OldJob> left = schedule.between(begin, now);
    int idle = 0;
    while (!left.isEmpty()) {
      List<OldJob> batch = left.subList(0, Math.min(left.size(), TAKEN_AT_ONCE));
      List<Submissions.Result> results = submissions.submit(batch);
      List<OldJob> later = new ArrayList<>();
      String why = "";
      for (int i = 0; i < results.size(); i++) {
        switch (results.get(i).kind()) {
          case STORED -> {}
          case REFUSED ->
              throw new UnavailableException(
                  "The run of the schedule %s at %s was refused: %s"
                      .formatted(
                          schedule.id(),
                          Instant.ofEpochMilli(batch.get(i).dueAt()),
                          results.get(i).why()));
          case LATER -> {
            later.add(batch.get(i));
            why = results.get(i).why();
          }
        }
      }
      idle = later.size() < batch.size() ? 0 : idle + 1;
      requireRoom(idle, why);
      if (!later.isEmpty()) {
        Thread.sleep(LATER_MS);
      }
      later.addAll(left.subList(batch.size(), left.size()));
      left = later;
    }
  }

  private void changed(E entry, String then) {
    changed++;
    err.println(
        store.name(entry)
            + " was changed or removed at the old side while it was moved, so "
            + then);
  }

  private void refuse(E entry, String why) {
    store.refuse(entry);
    tell(entry, why);
  }

  private void tell(E entry, String why) {
    refused++;
    if (refused <= REASONS || store.isRecurring(entry)) {
      err.println(store.name(entry) + " " + why);
    }
  }
}
