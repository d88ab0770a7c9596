package io.punctual.server.migrate;

import java.io.PrintStream;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Moves the jobs of a store to a scheduler, and counts them.
 *
 * @param <E> how the store tells jobs apart
 */
final class Move<E> {

  private static final int TAKEN_AT_ONCE = 500;
  private static final int TOLD_EACH = 10_000;
  private static final int REASONS = 5;
  private static final int SHOWN = 5;
  private static final int LATER_MS = 1_000;
  private static final int MAX_IDLE = 30;
  private static final String TAKEN =
      "An earlier run took it, and Punctual may have it, so it stays taken: ";
  private static final String BEFORE =
      ", was there before this run and stays: check whether it runs twice";

  private final OldStore<E> store;
  private final Submissions submissions;
  private final RemoteSchedules schedules;
  private final InstantSource clock;
  private final PrintStream out;
  private final PrintStream err;
  private long jobs;
  private long recurring;
  private final Map<End, Long> notMoved = new EnumMap<>(End.class);
  // Of jobs that this run may see again.
  private final Set<Object> ended = new HashSet<>();
  private long busy;

  /** Whether the jobs at hand were taken by an earlier run, which may have submitted them. */
  private boolean earlier;

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

  /** What became of a job that is not moved. */
  private enum End {
    /** It is where it was. */
    REFUSED,
    /** An earlier run took it, and Punctual may have it: it is on neither side by this run. */
    KEPT,
    /** The old side changed it, or removed it. */
    CHANGED
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

    void addAll(Batch<E> other, int from) {
      entries.addAll(other.entries.subList(from, other.entries.size()));
      jobs.addAll(other.jobs.subList(from, other.jobs.size()));
    }
  }

  /** Returns whether all were moved, or would be. */
  boolean isWhole() {
    return notMoved.isEmpty() && busy == 0 && store.busy() == 0;
  }

  private long count(End end) {
    return notMoved.getOrDefault(end, 0L);
  }

  /** Returns what was done so far, as a sentence. */
  String done() {
    String what = "%,d jobs".formatted(jobs);
    return (recurring == 0 ? what : what + " and %,d schedules".formatted(recurring))
        + " were moved.";
  }

  /** Describes what the store keeps, in sentences; empty if it keeps nothing. */
  String left() {
    return sentence(End.REFUSED, "were refused and are where they were")
        + sentence(End.KEPT, "stay taken, since Punctual may have them")
        + sentence(End.CHANGED, "were changed or removed at the old side")
        + (store.busy() == 0
            ? ""
            : " %,d were left to the old side, which is about to run them."
                .formatted(store.busy()));
  }

  private String sentence(End end, String what) {
    long count = count(end);
    return count == 0 ? "" : " %,d %s.".formatted(count, what);
  }

  /** Moves all. */
  void run() throws UnavailableException, InterruptedException {
    earlier = true;
    move(store.taken());
    earlier = false;
    store.hold();
    while (store.take(TAKEN_AT_ONCE, this::isOpen) > 0) {
      move(store.taken());
      store.hold();
    }
  }

  private boolean isOpen(E entry) {
    return !ended.contains(store.key(entry));
  }

  private void move(List<E> entries) throws UnavailableException, InterruptedException {
    Batch<E> batch = new Batch<>();
    for (E entry : entries) {
      if (!isOpen(entry)) {
        continue;
      }
      try {
        switch (store.read(entry)) {
          case OldJob job -> batch.add(entry, job);
          case OldSchedule schedule -> move(entry, schedule);
          case OldWork.Removed removed -> remove(entry, removed);
        }
      } catch (UnreadableException e) {
        if (earlier && store.wasReadable(entry)) {
          end(
              entry,
              End.KEPT,
              e.getMessage() + ". " + TAKEN + "run the command with the options of that run");
        } else {
          refuse(entry, String.valueOf(e.getMessage()));
        }
      }
    }
    submit(batch);
  }

  /** Says what would be moved, and changes nothing. */
  void look() {
    long wouldMove = 0;
    long removed = 0;
    int seen = 0;
    List<E> entries = store.look(seen, TAKEN_AT_ONCE);
    while (!entries.isEmpty()) {
      for (E entry : entries) {
        try {
          OldWork work = store.read(entry);
          if (work instanceof OldWork.Removed) {
            removed++;
          } else if (store.isBusy(entry)) {
            busy++;
          } else {
            wouldMove++;
            show(work, wouldMove);
          }
        } catch (UnreadableException e) {
          end(entry, End.REFUSED, String.valueOf(e.getMessage()));
        }
      }
      seen += entries.size();
      entries = store.look(seen, TAKEN_AT_ONCE);
    }
    out.println(
        "%,d would be moved, and %,d be refused.%s%s This run changed nothing."
            .formatted(
                wouldMove,
                count(End.REFUSED),
                removed == 0
                    ? ""
                    : " %,d have no data at the old side any more: their entries would be removed."
                        .formatted(removed),
                busy == 0
                    ? ""
                    : " %,d would be left to the old side, which is about to run them."
                        .formatted(busy)));
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
      case OldWork.Removed removed -> {}
    }
  }

  private void submit(Batch<E> batch) throws UnavailableException, InterruptedException {
    Batch<E> left = batch;
    int idle = 0;
    while (!left.jobs().isEmpty()) {
      store.hold();
      int fitting = Submissions.fitting(left.jobs());
      List<Submissions.Result> results = submissions.submit(left.jobs().subList(0, fitting));
      Batch<E> created = new Batch<>();
      Batch<E> there = new Batch<>();
      Batch<E> later = new Batch<>();
      String why = "";
      for (int i = 0; i < fitting; i++) {
        E entry = left.entries().get(i);
        OldJob job = left.jobs().get(i);
        switch (results.get(i).kind()) {
          case CREATED -> created.add(entry, job);
          case THERE -> there.add(entry, job);
          case REFUSED -> refuse(entry, job, "was refused: " + results.get(i).why());
          case LATER -> {
            later.add(entry, job);
            why = results.get(i).why();
          }
        }
      }
      moved(created, true);
      moved(there, false);
      idle = later.jobs().size() < fitting ? 0 : idle + 1;
      requireRoom(idle, why);
      if (!later.jobs().isEmpty()) {
        Thread.sleep(LATER_MS);
      }
      later.addAll(left, fitting);
      left = later;
    }
  }

  private static void requireRoom(int idle, String why) throws UnavailableException {
    if (idle > MAX_IDLE) {
      throw new UnavailableException("The scheduler takes no jobs now: " + why);
    }
  }

  /**
   * Ends jobs that are in Punctual.
   *
   * @param created whether they were not there before: else they may be the application's own
   */
  private void moved(Batch<E> stored, boolean created)
      throws UnavailableException, InterruptedException {
    if (stored.entries().isEmpty()) {
      return;
    }
    List<E> theirs = store.moved(stored.entries(), stored.jobs());
    for (E entry : theirs) {
      OldJob job = stored.jobs().get(stored.entries().indexOf(entry));
      changed(entry, created ? cancelled(job.id()) : "Its job in Punctual, " + job.id() + BEFORE);
    }
    long before = jobs;
    jobs += stored.jobs().size() - theirs.size();
    if (before / TOLD_EACH != jobs / TOLD_EACH) {
      out.println("%,d jobs moved".formatted(jobs));
    }
  }

  private String cancelled(String id) throws UnavailableException, InterruptedException {
    return submissions.cancel(id)
        ? "It was cancelled in Punctual"
        : "Punctual has already started or changed it: check whether it ran twice";
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
          case CREATED, THERE -> begin = put.begin();
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
          boolean unused = submissions.cancel(job.id());
        }
        changed(
            entry,
            schedules.delete(schedule)
                ? "Its schedule was deleted in Punctual"
                : "Its schedule could not be deleted in Punctual: delete it, or it runs twice");
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
      List<OldJob> batch = left.subList(0, Submissions.fitting(left));
      List<Submissions.Result> results = submissions.submit(batch);
      List<OldJob> later = new ArrayList<>();
      String why = "";
      for (int i = 0; i < results.size(); i++) {
        switch (results.get(i).kind()) {
          case CREATED, THERE -> {}
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

  /** Removes a job here, too, if an earlier run has submitted it. */
  private void remove(E entry, OldWork.Removed job)
      throws UnavailableException, InterruptedException {
    boolean there = earlier && submissions.has(job.id());
    changed(entry, there ? cancelled(job.id()) : "It is not in Punctual");
    List<E> unused = store.moved(List.of(entry), List.of(job));
  }

  private void changed(E entry, String then) {
    end(entry, End.CHANGED, "was changed or removed at the old side. " + then);
  }

  private void refuse(E entry, String why) {
    store.refuse(entry);
    end(entry, End.REFUSED, why);
  }

  private void refuse(E entry, OldJob job, String why)
      throws UnavailableException, InterruptedException {
    if (earlier && submissions.has(job.id())) {
      end(
          entry,
          End.KEPT,
          why
              + ". "
              + TAKEN
              + "look at the job "
              + job.id()
              + ". If it is another one, cancel it, and run this again");
    } else {
      refuse(entry, why);
    }
  }

  private void end(E entry, End end, String why) {
    long count = notMoved.merge(end, 1L, Long::sum);
    if (end != End.REFUSED || earlier) {
      ended.add(store.key(entry));
    }
    if (end != End.REFUSED || count <= REASONS || store.isRecurring(entry)) {
      err.println(store.name(entry) + " " + why);
    }
  }
}
