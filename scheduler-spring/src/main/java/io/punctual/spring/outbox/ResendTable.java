package io.punctual.spring.outbox;

import io.punctual.spi.StoreLosses;
import io.punctual.spring.CommitFailures.Call;
import io.punctual.spring.jdbc.Database;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.support.DataAccessUtils;

/**
 * The table {@code punctual_resend}: which losses of the store this application has made up for,
 * and how far it is with sending again. One row, so that all instances of the application go on
 * with the same work, in steps that each take the row's lock.
 */
final class ResendTable {

  /** The clocks of the store and the database are compared within this time. */
  private static final Duration MARGIN = Duration.ofSeconds(10);

  // Of these the jobs are sent again, as cancels.
  private static final String BY_TAG = Call.CANCEL_BY_TAG.toString();
  private static final int PAGE = 50;
  private static final Duration PAUSE = Duration.ofMillis(100);

  // So many of a queue that is damaged wait; those of others go on, slowly.
  private static final int MANY_WAITING = 500;
  private static final Duration LONG_PAUSE = Duration.ofSeconds(5);
  private static final Duration END_PAUSE = Duration.ofSeconds(1);

  private final Database database;
  private final String application;

  ResendTable(Database database, String application) {
    this.database = database;
    this.application = application;
  }

  private record State(
      @Nullable String store,
      long loss,
      long seenAt,
      long since,
      long begunAt,
      long endedAt,
      long feedAt,
      long lastSentAt,
      String lastLane,
      long fed,
      long missing,
      long present,
      long refused,
      long now) {

    boolean goesOn() {
      return begunAt != 0 && endedAt == 0;
    }

    boolean isSettled() {
      return missing + present + refused >= fed;
    }

    ResendStatus status() {
      return new ResendStatus(
          since == 0 ? null : Instant.ofEpochMilli(since),
          Instant.ofEpochMilli(begunAt),
          endedAt == 0 ? null : Instant.ofEpochMilli(endedAt),
          missing,
          present,
          refused);
    }
  }

  /** Makes the row. */
  void create() {
    if (state("") == null) {
      try {
        var unused =
            database.update(
                "insert into punctual_resend (application, loss, seen_at, look_at, since, begun_at, ended_at, feed_at, last_sent_at, last_lane, fed, missing, present, refused) values (?, 0, 0, 0, 0, 0, 0, 0, 0, '', 0, 0, 0, 0)",
                application);
      } catch (DuplicateKeyException e) {
        // Another instance did so.
      }
    }
  }

  /** Returns the last time that this application sent again; null if it never did. */
  @Nullable ResendStatus status() {
    State state = state("");
    return state == null || state.begunAt() == 0 ? null : state.status();
  }

  private @Nullable State state(String lock) {
    return DataAccessUtils.singleResult(
        database
            .jdbc()
            .query(
                "select store, loss, seen_at, since, begun_at, ended_at, feed_at, last_sent_at, last_lane, fed, missing, present, refused, %s from punctual_resend where application = ? %s"
                    .formatted(database.now(), lock),
                (results, number) ->
                    new State(
                        results.getString(1),
                        results.getLong(2),
                        results.getLong(3),
                        results.getLong(4),
                        results.getLong(5),
                        results.getLong(6),
                        results.getLong(7),
                        results.getLong(8),
                        results.getString(9),
                        results.getLong(10),
                        results.getLong(11),
                        results.getLong(12),
                        results.getLong(13),
                        results.getLong(14)),
                application));
  }

  /** Whether it is this instance's turn to ask the scheduler for losses. */
  boolean claimLook(Duration pause) {
    return database.update(
            "update punctual_resend set look_at = %1$s + ? where application = ? and look_at <= %1$s"
                .formatted(database.now()),
            pause.toMillis(),
            application)
        == 1;
  }

  /** Whether sending again has begun and has not ended. */
  boolean goesOn() {
    State state = state("");
    return state != null && state.goesOn();
  }

  /**
   * What a look found.
   *
   * @param jobs how many are sent again
   * @param other the store that was seen last, where this is another one and nothing is sent again
   */
  record Noticed(long jobs, @Nullable String other) {}

  /**
   * Begins to send again, where the scheduler names a loss that this application has not made up
   * for. If it is sending again already, it begins anew, with what both losses want.
   *
   * @param underWay returns the jobs of calls that may have been answered before the loss, and are
   *     not among what was sent yet: they are sent again behind these calls
   * @return null if there is no new loss, and the store is that of the last look
   */
  @Nullable Noticed notice(StoreLosses losses, OutboxTable outbox, Supplier<List<Job>> underWay) {
    State seen = state("");
    boolean news =
        seen != null
            && losses.store() != null
            && since(seen, losses.store(), losses, seen.now()) != null;
    // Read before the time at which it begins: what ends later is here, what ended has an earlier
    // time, however long a commit takes.
    List<Job> first = news ? underWay.get() : List.of();
    List<Noticed> noticed = new ArrayList<>();
    int unused =
        database.commit(
            () -> {
              notice(losses, outbox, news, first, seen == null ? 0 : seen.now(), noticed);
              return 0;
            });
    return noticed.isEmpty() ? null : noticed.get(0);
  }

  private void notice(
      StoreLosses losses,
      OutboxTable outbox,
      boolean news,
      List<Job> first,
      long asked,
      List<Noticed> noticed) {
    State state = state("for update");
    String store = losses.store();
    if (state == null || store == null) {
      return;
    }
    Long since = since(state, store, losses, asked);
    if (since != null && !news) {
      // Another instance wrote the row meanwhile: at the next look.
      return;
    }
    boolean isOther = state.store() != null && !store.equals(state.store());
    long known = isOther ? losses.newest() : Math.max(losses.newest(), state.loss());
    var unused =
        database
            .jdbc()
            .update(
                "update punctual_resend set store = ?, loss = ?, seen_at = ? where application = ?",
                store,
                known,
                state.now(),
                application);
    if (since != null) {
      noticed.add(new Noticed(begin(state, since, outbox, first), null));
    } else if (isOther) {
      noticed.add(new Noticed(0, state.store()));
    }
  }

  /**
   * The database's time since which rows are sent again: 0 for all; null if there is no loss.
   * Another store counts as a loss only if it began, or a scheduler noticed a loss in it, after
   * this application last saw the earlier one. Otherwise jobs may wait there and would run twice.
   *
   * @param asked the database's time when the scheduler answered
   */
  private static @Nullable Long since(State state, String store, StoreLosses losses, long asked) {
    if (state.store() == null) {
      // The first look of a new application.
      return null;
    }
    boolean isOther = !store.equals(state.store());
    long seen = state.seenAt() - MARGIN.toMillis();
    if (isOther
        && isPlugin(store) == isPlugin(state.store())
        && at(losses.begun(), losses, asked) > seen) {
      return 0L;
    }
    Long since = null;
    for (StoreLosses.Loss loss : losses.losses()) {
      if (isOther
          ? at(Instant.ofEpochMilli(loss.sequence()), losses, asked) > seen
          : loss.sequence() > state.loss()) {
        Instant asOf = loss.asOf();
        long from = asOf == null ? 0 : Math.max(1, at(asOf, losses, asked) - MARGIN.toMillis());
        since = since == null ? from : Math.min(since, from);
      }
    }
    return since;
  }

  private static boolean isPlugin(String store) {
    return store.startsWith(StoreLosses.PLUGIN);
  }

  /** Returns the database's time at a time of the store. */
  private static long at(Instant time, StoreLosses losses, long asked) {
    return asked - Duration.between(time, losses.now()).toMillis();
  }

  private long begin(State state, long given, OutboxTable outbox, List<Job> underWay) {
    long since = state.goesOn() ? Math.min(given, state.since()) : given;
    Long jobs =
        database
            .jdbc()
            .queryForObject(
                "select count(*) from punctual_sent where application = ? and sent_at >= ? and sent_at <= ? and kind <> ?",
                Long.class,
                application,
                since,
                state.now(),
                BY_TAG);
    String counts =
        state.goesOn() ? "fed = fed + ?" : "missing = 0, present = 0, refused = 0, fed = ?";
    outbox.insertResends(underWay);
    var unused =
        database
            .jdbc()
            .update(
                "update punctual_resend set since = ?, begun_at = ?, ended_at = 0, feed_at = 0, last_sent_at = ?, last_lane = '', %s where application = ?"
                    .formatted(counts),
                since,
                state.now(),
                since - 1,
                underWay.size(),
                application);
    return underWay.size() + (jobs == null ? 0 : jobs);
  }

  /** A job that is to be sent again. */
  record Job(String lane, String taskType, long sentAt) {}

  /**
   * Writes the next jobs to the outbox, to be sent again behind what waits there.
   *
   * @return what was done, if that has ended it; null if it goes on
   */
  @Nullable ResendStatus feed(OutboxTable outbox) {
    List<ResendStatus> ended = new ArrayList<>();
    int unused =
        database.commit(
            () -> {
              State state = state("for update");
              if (state != null && state.goesOn() && state.feedAt() <= state.now()) {
                feed(state, outbox, ended);
              }
              return 0;
            });
    return ended.isEmpty() ? null : ended.get(0);
  }

  private void feed(State state, OutboxTable outbox, List<ResendStatus> ended) {
    List<Job> jobs = next(state);
    if (!jobs.isEmpty()) {
      outbox.insertResends(jobs);
      Job last = jobs.get(jobs.size() - 1);
      long waiting = state.fed() - state.missing() - state.present() - state.refused();
      Duration pause = waiting > MANY_WAITING ? LONG_PAUSE : PAUSE;
      var unused =
          database
              .jdbc()
              .update(
                  "update punctual_resend set feed_at = ?, last_sent_at = ?, last_lane = ?, fed = fed + ? where application = ?",
                  state.now() + pause.toMillis(),
                  last.sentAt(),
                  last.lane(),
                  jobs.size(),
                  application);
    } else if (state.isSettled() || !outbox.hasResends()) {
      var unused =
          database
              .jdbc()
              .update(
                  "update punctual_resend set ended_at = ? where application = ?",
                  state.now(),
                  application);
      ended.add(
          new ResendStatus(
              state.since() == 0 ? null : Instant.ofEpochMilli(state.since()),
              Instant.ofEpochMilli(state.begunAt()),
              Instant.ofEpochMilli(state.now()),
              state.missing(),
              state.present(),
              state.refused()));
    } else {
      var unused =
          database
              .jdbc()
              .update(
                  "update punctual_resend set feed_at = ? where application = ?",
                  state.now() + END_PAUSE.toMillis(),
                  application);
    }
  }

  private List<Job> next(State state) {
    return database
        .jdbc()
        .query(
            "select lane, task_type, sent_at from punctual_sent where application = ? and sent_at >= ? and sent_at <= ? and (sent_at > ? or lane > ?) and kind <> ? order by application, sent_at, lane limit %d"
                .formatted(PAGE),
            (results, number) ->
                new Job(results.getString(1), results.getString(2), results.getLong(3)),
            application,
            state.lastSentAt(),
            state.begunAt(),
            state.lastSentAt(),
            state.lastLane(),
            BY_TAG);
  }

  /** Adds to the account, on the connection of this thread's transaction if there is one. */
  void count(long missing, long present, long refused) {
    if (missing + present + refused > 0) {
      var unused =
          database
              .jdbc()
              .update(
                  "update punctual_resend set missing = missing + ?, present = present + ?, refused = refused + ? where application = ?",
                  missing,
                  present,
                  refused,
                  application);
    }
  }
}
