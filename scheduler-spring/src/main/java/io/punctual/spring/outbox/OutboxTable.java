package io.punctual.spring.outbox;

import io.punctual.internal.WorkerSetupException;
import io.punctual.spring.DeferredCall;
import io.punctual.spring.jdbc.Database;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The table {@code punctual_outbox}. Rows of one lane, which is a job, go in the order of their
 * numbers: none is given out as long as an earlier one is there. A row is claimed for a while by
 * one statement, without a transaction that stays open, and deleted when its call was made.
 */
final class OutboxTable {

  /** The lane of what concerns jobs of any type: nothing goes beside it. */
  private static final String ALL = DeferredCall.ALL_JOBS;

  /** The kind of a row that asks to send again what is kept of its job. */
  private static final String RESEND = "resend";

  private static final int MAX_ERROR = 1000;
  private static final int PAGE = 500;
  // All columns of an index, so that no database sorts what it has in order: H2 would.
  private static final String BY_ID = "application, refused, id";
  private static final String BY_TYPE = "application, refused, task_type, id";
  // Of one look, where types are read apart: so much is read, and of so many types, at most.
  private static final int PAGES = 40;
  private static final int TYPES = 200;

  private final Database database;
  private final JdbcTemplate jdbc;
  private final String application;
  // The task type that was read last, where types are read apart: the next ones have their turn.
  private volatile String turn = "";

  OutboxTable(Database database, String application) {
    this.database = database;
    this.jdbc = database.jdbc();
    this.application = application;
  }

  /**
   * A claimed row.
   *
   * @param type the task type of its job; that of what concerns all of them is {@link #ALL}
   * @param attempts this one included
   * @param createdAt when the transaction wrote it, by the database's clock, epoch ms
   */
  record Row(
      long id,
      String type,
      String lane,
      String kind,
      String content,
      int attempts,
      long createdAt) {

    /** Whether it asks to send again what is kept of its job. */
    boolean isResend() {
      return kind.equals(RESEND);
    }
  }

  /**
   * Sees that the table is there.
   *
   * @throws WorkerSetupException if it is not
   */
  void require() {
    database.require("punctual_outbox", "task_type", "punctual.outbox.enabled");
  }

  /** What is in the table, as far as it concerns this application. */
  OutboxStatus status() {
    return Objects.requireNonNull(
        jdbc.query(
            "select refused, count(*), min(created_at), "
                + database.now()
                + " from punctual_outbox where application = ? group by refused",
            results -> {
              long waiting = 0;
              long refused = 0;
              Duration age = Duration.ZERO;
              while (results.next()) {
                if (results.getInt(1) == 0) {
                  waiting = results.getLong(2);
                  age = Duration.ofMillis(Math.max(0, results.getLong(4) - results.getLong(3)));
                } else {
                  refused = results.getLong(2);
                }
              }
              return new OutboxStatus(waiting, age, refused);
            },
            application));
  }

  /** Writes calls, on the connection of this thread's transaction. */
  void insert(List<? extends DeferredCall> calls) {
    List<Object[]> rows = new ArrayList<>(calls.size());
    for (DeferredCall call : calls) {
      rows.add(
          new Object[] {
            application,
            call.taskType(),
            call.lane(),
            call.kind().toString(),
            StoredCalls.write(call)
          });
    }
    insertRows(rows);
  }

  /** Writes that jobs are to be sent again, on the connection of this thread's transaction. */
  void insertResends(List<ResendTable.Job> jobs) {
    insertRows(
        jobs.stream()
            .map(job -> new Object[] {application, job.taskType(), job.lane(), RESEND, ""})
            .toList());
  }

  private void insertRows(List<Object[]> rows) {
    var unused =
        jdbc.batchUpdate(
            "insert into punctual_outbox (application, task_type, lane, kind, content, created_at,"
                + " available_at, attempts, refused) values (?, ?, ?, ?, ?, %1$s, %1$s, 0, 0)"
                    .formatted(database.now()),
            rows);
  }

  /** Whether jobs wait to be sent again. */
  boolean hasResends() {
    return !jdbc.queryForList(
            "select id from punctual_outbox where application = ? and refused = 0 and kind = ? order by application, refused, id limit 1",
            application,
            RESEND)
        .isEmpty();
  }

  private record Waiting(long id, String lane, boolean available, Duration age) {}

  /**
   * What concerns all jobs, and cannot go because of an earlier row.
   *
   * @param id the row that waits, and with it all later ones
   * @param age how long it has been there
   * @param by the first of the rows that it waits for
   * @param lane whose row that is
   */
  record Blocked(long id, Duration age, long by, String lane) {}

  /**
   * What may go now.
   *
   * @param ids of rows, the oldest first
   * @param blocked null where nothing of that kind was seen
   */
  record Ready(List<Long> ids, @Nullable Blocked blocked) {}

  /**
   * Returns the rows that may go now: of each lane the first one, unless it is claimed or failed a
   * moment ago. Rows are read in their order, a page at a time, and told apart here: a database
   * that knows nothing of a table yet makes a long way of a join with itself.
   *
   * <p>Where one page does not do, or types are left out, each type is read by itself: of those
   * that are left out no row is read, and a long backlog of one does not hide the others. So much
   * is read at once at most; the types that follow have the next turn.
   *
   * @param without task types of which none goes
   */
  Ready ready(int max, Set<String> without) {
    if (without.isEmpty()) {
      Heads heads = new Heads(max);
      if (heads.addAll(page(heads.last))) {
        return heads.found();
      }
    }
    // All at one moment: of a transaction that commits between two pages, only the later rows would
    // be seen, and go before the earlier ones.
    return database.snapshot(() -> readyByType(max, without));
  }

  private Ready readyByType(int max, Set<String> without) {
    Waiting oldest = first("", BY_ID);
    Waiting all = first("and task_type = '*' ", BY_TYPE);
    if (oldest == null) {
      return new Ready(List.of(), null);
    } else if (all == null) {
      return new Ready(readyByType(max, without, Long.MAX_VALUE), null);
    } else if (all.id() == oldest.id()) {
      return new Ready(all.available() ? List.of(all.id()) : List.of(), null);
    }
    return new Ready(
        readyByType(max, without, all.id()),
        new Blocked(all.id(), all.age(), oldest.id(), oldest.lane()));
  }

  /**
   * @param before the number from which on nothing goes
   */
  private List<Long> readyByType(int max, Set<String> without, long before) {
    List<Long> ready = new ArrayList<>();
    int pages = PAGES;
    String type = turn;
    String first = null;
    for (int types = 0; types < TYPES && pages > 0 && ready.size() < max; types++) {
      type = typeAfter(type);
      if (type == null || type.equals(first)) {
        // There is none, or each had its turn.
        break;
      }
      first = first == null ? type : first;
      if (type.equals(ALL) || without.contains(type)) {
        continue;
      }
      turn = type;
      Heads heads = new Heads(max - ready.size());
      while (pages-- > 0 && !heads.addAll(page(heads.last, type, before))) {
        // The next one.
      }
      ready.addAll(heads.ready);
    }
    Collections.sort(ready);
    return ready;
  }

  /** The task type that follows in the order of their names, and the first behind the last. */
  private @Nullable String typeAfter(String type) {
    String next = typeFrom("and task_type > ? ", type);
    return next == null ? typeFrom("and task_type > ? ", "") : next;
  }

  private @Nullable String typeFrom(String where, String type) {
    return DataAccessUtils.singleResult(
        jdbc.queryForList(
            "select task_type from punctual_outbox where application = ? and refused = 0 "
                + where
                + "order by application, refused, task_type limit 1",
            String.class,
            application,
            type));
  }

  /** The heads of lanes, found by going through the rows in their order. */
  private static final class Heads {

    private final int max;
    private final List<Long> ready = new ArrayList<>();
    private final Set<String> taken = new HashSet<>();
    private long last = Long.MIN_VALUE;
    private @Nullable Waiting oldest;
    private @Nullable Blocked blocked;

    Heads(int max) {
      this.max = max;
    }

    Ready found() {
      return new Ready(ready, blocked);
    }

    /** Whether that was enough. */
    boolean addAll(List<Waiting> page) {
      for (Waiting row : page) {
        last = row.id();
        if (oldest == null) {
          oldest = row;
        }
        boolean alone = row.lane().equals(ALL);
        boolean first = alone ? taken.isEmpty() : taken.add(row.lane());
        if (first && row.available()) {
          ready.add(row.id());
        }
        if (alone && !first) {
          blocked = new Blocked(row.id(), row.age(), oldest.id(), oldest.lane());
        }
        if (alone || ready.size() == max) {
          return true;
        }
      }
      return page.size() < PAGE;
    }
  }

  private @Nullable Waiting first(String where, String order) {
    return DataAccessUtils.singleResult(waiting(where, order, 1, application));
  }

  private List<Waiting> page(long after) {
    return waiting("and id > ? ", BY_ID, PAGE, application, after);
  }

  private List<Waiting> page(long after, String type, long before) {
    return waiting(
        "and task_type = ? and id > ? and id < ? ",
        BY_TYPE,
        PAGE,
        application,
        type,
        after,
        before);
  }

  private List<Waiting> waiting(String where, String order, int limit, Object... values) {
    return jdbc.query(
        "select id, lane, case when available_at <= %1$s then 1 else 0 end, %1$s - created_at from punctual_outbox where application = ? and refused = 0 %2$sorder by %3$s limit %4$d"
            .formatted(database.now(), where, order, limit),
        (results, number) ->
            new Waiting(
                results.getLong(1),
                results.getString(2),
                results.getInt(3) == 1,
                Duration.ofMillis(results.getLong(4))),
        values);
  }

  /**
   * Claims those of the rows that nobody else has claimed meanwhile.
   *
   * @param claim the name of this claim, used once
   * @param lease after which the rows may go to somebody else
   */
  List<Row> claim(List<Long> ids, String claim, Duration lease) {
    return database.commit(() -> update(ids, claim, lease) == 0 ? List.of() : claimed(ids, claim));
  }

  private int update(List<Long> ids, String claim, Duration lease) {
    List<Object> values = new ArrayList<>(List.of(claim, lease.toMillis()));
    values.addAll(ids);
    return jdbc.update(
        "update punctual_outbox set claim = ?, available_at = %1$s + ?, attempts = attempts + 1 where id in (%2$s) and refused = 0 and available_at <= %1$s"
            .formatted(database.now(), marks(ids)),
        values.toArray());
  }

  private List<Row> claimed(List<Long> ids, String claim) {
    List<Object> values = new ArrayList<>(ids);
    values.add(claim);
    return jdbc.query(
        "select id, task_type, lane, kind, content, attempts, created_at from punctual_outbox where id in (%s) and claim = ? order by id"
            .formatted(marks(ids)),
        OutboxTable::row,
        values.toArray());
  }

  private static Row row(ResultSet results, int number) throws SQLException {
    return new Row(
        results.getLong(1),
        results.getString(2),
        results.getString(3),
        results.getString(4),
        results.getString(5),
        results.getInt(6),
        results.getLong(7));
  }

  /**
   * Returns the rows that are claimed: their calls may have been answered, but no answer is written
   * down.
   */
  List<Row> underWay() {
    return jdbc.query(
        "select id, task_type, lane, kind, content, attempts, created_at from punctual_outbox where application = ? and refused = 0 and claim is not null order by id",
        OutboxTable::row,
        application);
  }

  /**
   * Keeps rows for another lease, from now.
   *
   * @return how many of them the claim still has
   */
  int extend(List<Long> ids, String claim, Duration lease) {
    return change(
        "update punctual_outbox set available_at = %s + ?".formatted(database.now()),
        ids,
        claim,
        lease.toMillis());
  }

  /** The calls were made. */
  void delete(List<Long> ids, String claim) {
    var unused = change("delete from punctual_outbox", ids, claim);
  }

  /**
   * The calls were made.
   *
   * @param kept is given those of the rows that the claim still has, before the commit
   */
  void delete(List<Long> ids, String claim, Consumer<Set<Long>> kept) {
    if (ids.isEmpty()) {
      return;
    }
    List<Object> values = new ArrayList<>(ids);
    values.add(claim);
    int unused =
        database.commit(
            () -> {
              Set<Long> ours =
                  new HashSet<>(
                      jdbc.queryForList(
                          "select id from punctual_outbox where id in (%s) and claim = ? for update"
                              .formatted(marks(ids)),
                          Long.class,
                          values.toArray()));
              kept.accept(ours);
              return jdbc.update(
                  "delete from punctual_outbox where id in (%s) and claim = ?"
                      .formatted(marks(ids)),
                  values.toArray());
            });
  }

  /** The calls were not tried. */
  void release(List<Long> ids, String claim) {
    var unused =
        change(
            "update punctual_outbox set claim = null, available_at = %s, attempts = attempts - 1"
                .formatted(database.now()),
            ids,
            claim);
  }

  /** A call failed, to be made again after that time. */
  void failed(long id, String claim, String error, Duration delay) {
    var unused =
        change(
            "update punctual_outbox set claim = null, available_at = %s + ?, error = ?"
                .formatted(database.now()),
            List.of(id),
            claim,
            delay.toMillis(),
            cut(error));
  }

  /** A call can never be made; the row stays for people, and nothing waits for it any more. */
  void refused(long id, String claim, String error) {
    var unused =
        change(
            "update punctual_outbox set claim = null, refused = 1, available_at = %s, error = ?"
                .formatted(database.now()),
            List.of(id),
            claim,
            cut(error));
  }

  /** Changes rows that are still ours; answers how many. */
  private int change(String statement, List<Long> ids, String claim, Object... first) {
    if (ids.isEmpty()) {
      return 0;
    }
    List<Object> values = new ArrayList<>(List.of(first));
    values.addAll(ids);
    values.add(claim);
    return database.update(
        "%s where id in (%s) and claim = ?".formatted(statement, marks(ids)), values.toArray());
  }

  /** Forgets what was refused so long ago. */
  int deleteRefused(Duration age) {
    return database.update(
        "delete from punctual_outbox where application = ? and refused = 1 and available_at < %s - ?"
            .formatted(database.now()),
        application,
        age.toMillis());
  }

  /** Lets go at once what waits because it failed a moment ago. */
  void hurry() {
    var unused =
        database.update(
            "update punctual_outbox set available_at = %1$s where application = ? and refused = 0 and claim is null and available_at > %1$s"
                .formatted(database.now()),
            application);
  }

  /** Drops everything. */
  void clear() {
    var unused = database.update("delete from punctual_outbox where application = ?", application);
  }

  private static String cut(String text) {
    return text.length() <= MAX_ERROR ? text : text.substring(0, MAX_ERROR);
  }

  private static String marks(List<?> values) {
    return String.join(", ", Collections.nCopies(values.size(), "?"));
  }
}
