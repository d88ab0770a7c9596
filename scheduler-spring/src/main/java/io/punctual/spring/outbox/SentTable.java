package io.punctual.spring.outbox;

import io.punctual.internal.WorkerSetupException;
import io.punctual.spring.DeferredCall;
import io.punctual.spring.jdbc.Database;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The table {@code punctual_sent}: for each job what was sent for it, as it was wanted last. So a
 * job that was sent and cancelled is one row, a cancel. A cancel by tag has a row as well, for the
 * jobs that the store had lost when it was made: no answer names them.
 */
final class SentTable {

  private static final int MAX_MARKS = 500;

  private final Database database;
  private final String application;
  private final Duration keep;

  /**
   * @param keep how long rows stay after they were sent, or after the job is due if that is later
   */
  SentTable(Database database, String application, Duration keep) {
    this.database = database;
    this.application = application;
    this.keep = keep;
  }

  /**
   * What was sent for a job.
   *
   * @param kind of the call, see {@link StoredCalls}
   * @param dueAt by the scheduler's clock; the epoch for a cancel
   * @param moved whether {@code dueAt} is not that of the content
   * @param createdAt when the transaction wrote the call, by the database's clock, epoch ms
   * @param sentAt when the row was written, by the database's clock, epoch ms; 0 for one that is to
   *     be written
   */
  record Sent(
      String lane,
      String taskType,
      String kind,
      String content,
      Instant dueAt,
      boolean moved,
      long createdAt,
      long sentAt) {

    Sent(
        String lane,
        String taskType,
        String kind,
        String content,
        Instant dueAt,
        boolean moved,
        long createdAt) {
      this(lane, taskType, kind, content, dueAt, moved, createdAt, 0);
    }
  }

  /**
   * A job that got another due time.
   *
   * @param known whether the scheduler has the job: else the row stays as old as it was, so that a
   *     resend that is under way does not leave it out
   */
  record Moved(Instant dueAt, boolean known) {}

  /** What a batch of calls changes; each job is in one of the lists. */
  record Changes(
      List<Sent> wanted, List<Sent> unchanged, Map<String, Moved> moved, Set<String> ended) {}

  /** A job that ended here. */
  record Ended(String lane, long nanoTime) {}

  /**
   * Checks that the tables are there.
   *
   * @throws WorkerSetupException if they are not
   */
  void require() {
    database.require("punctual_sent", "keep_until", "punctual.outbox.keep-sent");
  }

  /** Returns what was sent for those jobs, by lane. */
  Map<String, Sent> find(List<String> lanes) {
    Map<String, Sent> found = new HashMap<>();
    if (lanes.isEmpty()) {
      return found;
    }
    List<Object> values = new ArrayList<>(List.of(application));
    values.addAll(lanes);
    database
        .jdbc()
        .query(
            "select lane, task_type, kind, content, due_at, moved, created_at, sent_at from punctual_sent"
                + " where application = ? and lane in (%s)".formatted(marks(lanes.size())),
            results -> {
              Sent sent =
                  new Sent(
                      results.getString(1),
                      results.getString(2),
                      results.getString(3),
                      results.getString(4),
                      Instant.ofEpochMilli(results.getLong(5)),
                      results.getInt(6) == 1,
                      results.getLong(7),
                      results.getLong(8));
              found.put(sent.lane(), sent);
            },
            values.toArray());
    return found;
  }

  /** Writes what was sent, on the connection of this thread's transaction. */
  void write(Changes changes) {
    List<String> gone = new ArrayList<>(changes.ended());
    List<Sent> wanted = new ArrayList<>(changes.wanted());
    if (!changes.unchanged().isEmpty()) {
      wanted.addAll(touch(changes.unchanged()));
    }
    wanted.forEach(sent -> gone.add(sent.lane()));
    for (int from = 0; from < gone.size(); from += MAX_MARKS) {
      List<String> some = gone.subList(from, Math.min(from + MAX_MARKS, gone.size()));
      List<Object> values = new ArrayList<>(List.of(application));
      values.addAll(some);
      database
          .jdbc()
          .update(
              "delete from punctual_sent where application = ? and lane in (%s)"
                  .formatted(marks(some.size())),
              values.toArray());
    }
    insert(wanted);
    move(changes.moved());
  }

  /** Notes that jobs were sent again as they are; returns those that are not there. */
  private List<Sent> touch(List<Sent> unchanged) {
    int[] counts =
        database
            .jdbc()
            .batchUpdate(
                "update punctual_sent set sent_at = %1$s, keep_until = greatest(due_at, %1$s) + ? where application = ? and lane = ? and kind = 'send'"
                    .formatted(database.now()),
                unchanged.stream()
                    .map(sent -> new Object[] {keep.toMillis(), application, sent.lane()})
                    .toList());
    List<Sent> missing = new ArrayList<>();
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] == 0) {
        missing.add(unchanged.get(i));
      }
    }
    return missing;
  }

  private void insert(List<Sent> wanted) {
    if (wanted.isEmpty()) {
      return;
    }
    var unused =
        database
            .jdbc()
            .batchUpdate(
                "insert into punctual_sent (application, lane, task_type, kind, content, due_at, moved, created_at, sent_at, keep_until) values (?, ?, ?, ?, ?, ?, ?, ?, %1$s, greatest(?, %1$s) + ?)"
                    .formatted(database.now()),
                wanted.stream()
                    .map(
                        sent ->
                            new Object[] {
                              application,
                              sent.lane(),
                              sent.taskType(),
                              sent.kind(),
                              sent.content(),
                              sent.dueAt().toEpochMilli(),
                              sent.moved() ? 1 : 0,
                              sent.createdAt(),
                              sent.dueAt().toEpochMilli(),
                              keep.toMillis()
                            })
                    .toList());
  }

  private void move(Map<String, Moved> moved) {
    if (moved.isEmpty()) {
      return;
    }
    var unused =
        database
            .jdbc()
            .batchUpdate(
                "update punctual_sent set due_at = ?, moved = 1, sent_at = case when ? = 1 then %1$s else sent_at end, keep_until = greatest(?, %1$s) + ? where application = ? and lane = ? and kind = 'send'"
                    .formatted(database.now()),
                moved.entrySet().stream()
                    .map(
                        move ->
                            new Object[] {
                              move.getValue().dueAt().toEpochMilli(),
                              move.getValue().known() ? 1 : 0,
                              move.getValue().dueAt().toEpochMilli(),
                              keep.toMillis(),
                              application,
                              move.getKey()
                            })
                    .toList());
  }

  /** Returns the lane of the cancel by a tag. */
  static String laneOf(String tag) {
    return DeferredCall.ALL_JOBS + "/" + tag;
  }

  /** Returns cancels of the jobs that have a tag. Reads all that is kept; for rare cases. */
  Set<DeferredCall.Cancel> withTag(String tag) {
    Set<DeferredCall.Cancel> cancels = new HashSet<>();
    database
        .jdbc()
        .query(
            "select content from punctual_sent where application = ? and kind = 'send' and content like ?",
            results -> {
              if (StoredCalls.read("send", results.getString(1)) instanceof DeferredCall.Send send
                  && send.job().tags().contains(tag)) {
                cancels.add(new DeferredCall.Cancel(send.job().taskType(), send.job().taskId()));
              }
            },
            application,
            // What JSON or the database would write in another way is looked for among all.
            tag.matches("[\\w:.-]+") ? "%" + tag + "%" : "%");
    return cancels;
  }

  /**
   * Forgets jobs that ended here, but not later jobs of the same id: those were written to the
   * outbox after the end.
   */
  void forget(List<Ended> ended) {
    int[] unused =
        database.commit(
            () ->
                database
                    .jdbc()
                    .batchUpdate(
                        "delete from punctual_sent where application = ? and lane = ? and created_at <= %s - ?"
                            .formatted(database.now()),
                        ended.stream()
                            // In one order, so that no two instances wait for each other.
                            .sorted(Comparator.comparing(Ended::lane))
                            .map(
                                end ->
                                    new Object[] {
                                      application,
                                      end.lane(),
                                      Duration.ofNanos(System.nanoTime() - end.nanoTime())
                                          .toMillis()
                                    })
                            .toList()));
  }

  /** Forgets what was kept for long enough. */
  void clean() {
    var unused =
        database.update(
            "delete from punctual_sent where application = ? and keep_until < %s"
                .formatted(database.now()),
            application);
  }

  private static String marks(int number) {
    return String.join(", ", Collections.nCopies(number, "?"));
  }
}
