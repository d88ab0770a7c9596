package io.punctual.server.migrate;

import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.Schedule;
import io.punctual.schedule.WhileRunning;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tables of XXL-JOB's admin. A job is taken under the lock of its scheduling threads, by a
 * status of which they know only that it is not "running". Afterwards it is stopped.
 */
final class XxlJobTable implements SqlTables {

  static final String PREFIX = "xxl_job_";

  private static final int STOPPED = 0;
  private static final int RUNNING = 1;
  private static final int MOVING = 2;

  private final String prefix;
  private final String handler;
  private final String taskType;
  private final ZoneId zone;
  private String group;

  /**
   * @param jobs the name of the handler that runs the jobs; may have the id of its executor and a
   *     slash in front
   * @param zone of the admin
   */
  XxlJobTable(String prefix, String jobs, String taskType, ZoneId zone) {
    int slash = jobs.indexOf('/');
    this.prefix = prefix;
    this.group = slash < 0 ? "" : jobs.substring(0, slash);
    this.handler = jobs.substring(slash + 1);
    this.taskType = taskType;
    this.zone = zone;
  }

  @Override
  public void open(Connection connection) throws SQLException {
    List<String> groups = texts(connection, "job_group", " where executor_handler = ?", handler);
    SqlTables.requireKnown(
        "job of XXL-JOB has the handler",
        handler,
        texts(connection, "executor_handler", " where executor_handler <> ?", ""));
    if (group.isEmpty() && groups.size() > 1) {
      throw new IllegalArgumentException(
          "Several executors have a handler of this name. Write the id of one of them in front:"
              + " %s/%s".formatted(String.join("|", groups), handler));
    } else if (group.isEmpty()) {
      group = groups.get(0);
    } else if (!groups.contains(group)) {
      throw new IllegalArgumentException(
          "The executor %s has no jobs of the handler %s. Those with such jobs are %s"
              .formatted(group, handler, String.join(", ", groups)));
    }
  }

  private List<String> texts(
      Connection connection, String column, String condition, String parameter)
      throws SQLException {
    List<String> texts = new ArrayList<>();
    try (PreparedStatement statement =
        connection.prepareStatement(
            "select distinct " + column + " from " + prefix + "info" + condition + " order by 1")) {
      statement.setString(1, parameter);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          texts.add(rows.getString(1));
        }
      }
    }
    return texts;
  }

  @Override
  public void lock(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "select * from " + prefix + "lock where lock_name = 'schedule_lock' for update")) {
      statement.executeQuery().close();
    }
  }

  private PreparedStatement select(Connection connection, int status, String condition)
      throws SQLException {
    PreparedStatement statement =
        connection.prepareStatement(
            "select id, schedule_type, schedule_conf, misfire_strategy, executor_route_strategy,"
                + " executor_param, executor_block_strategy, glue_type, child_jobid,"
                + " trigger_next_time from "
                + prefix
                + "info where executor_handler = ? and job_group = ? and trigger_status = ?"
                + condition);
    statement.setString(1, handler);
    statement.setString(2, group);
    statement.setInt(3, status);
    return statement;
  }

  @Override
  public List<SqlRow> next(Connection connection, @Nullable SqlRow last, int max)
      throws SQLException {
    try (PreparedStatement statement =
        select(connection, RUNNING, " and id > ? order by id limit ?")) {
      statement.setLong(4, last == null ? 0 : Long.parseLong(last.key().get(0)));
      statement.setInt(5, max);
      return rows(statement);
    }
  }

  @Override
  public List<SqlRow> taken(Connection connection) throws SQLException {
    try (PreparedStatement statement = select(connection, MOVING, "")) {
      return rows(statement);
    }
  }

  private List<SqlRow> rows(PreparedStatement statement) throws SQLException {
    List<SqlRow> rows = new ArrayList<>();
    try (ResultSet found = statement.executeQuery()) {
      while (found.next()) {
        Job job = Job.of(found);
        rows.add(
            SqlRow.of(
                List.of(Long.toString(job.id())),
                job.next().toEpochMilli(),
                Long.toString(job.id()),
                true,
                true,
                () -> read(job)));
      }
    }
    return rows;
  }

  /** A job. */
  private record Job(
      long id,
      String type,
      String conf,
      String misfire,
      String route,
      String param,
      String block,
      String glue,
      String children,
      Instant next) {

    static Job of(ResultSet row) throws SQLException {
      return new Job(
          row.getLong(1),
          text(row.getString(2)),
          text(row.getString(3)),
          text(row.getString(4)),
          text(row.getString(5)),
          text(row.getString(6)),
          text(row.getString(7)),
          text(row.getString(8)),
          text(row.getString(9)),
          Instant.ofEpochMilli(row.getLong(10)));
    }

    private static String text(@Nullable String text) {
      return text == null ? "" : text;
    }
  }

  private OldSchedule read(Job job) throws UnreadableException {
    if (!job.glue().equals("BEAN")) {
      throw new UnreadableException(
          "is a script (%s): Punctual runs handlers alone".formatted(job.glue()));
    } else if (job.route().equals("SHARDING_BROADCAST")) {
      throw new UnreadableException(
          "is broadcast to all executors: Punctual gives each run to one instance");
    } else if (!job.children().isBlank()) {
      throw new UnreadableException(
          "starts the jobs %s when it ends: submit them in the worker, and remove them there"
              .formatted(job.children()));
    }
    Schedule.Builder schedule =
        Schedule.of(taskType, "xxl-job-" + job.id())
            .params(job.param())
            .missed(job.misfire().equals("FIRE_ONCE_NOW") ? Missed.LATEST : Missed.NONE)
            .whileRunning(whileRunning(job.block()));
    OldIds.headers("xxl-job-id", Long.toString(job.id())).forEach(schedule::header);
    switch (job.type()) {
      case "CRON" ->
          schedule.cron(QuartzCron.translated(job.conf()), zone).gap(Gap.SKIP).fold(Fold.LAST);
      case "FIX_RATE" -> schedule.every(Duration.ofSeconds(Long.parseLong(job.conf())), job.next());
      default ->
          throw new UnreadableException(
              "has the schedule type %s, which Punctual does not have".formatted(job.type()));
    }
    return new OldSchedule(schedule.build(), job.next(), job.type() + " " + job.conf());
  }

  private static WhileRunning whileRunning(String block) throws UnreadableException {
    return switch (block) {
      case "SERIAL_EXECUTION" -> WhileRunning.QUEUE;
      case "DISCARD_LATER" -> WhileRunning.SKIP;
      default ->
          throw new UnreadableException(
              ("has the block strategy %s: Punctual does not end a run for the sake of the next"
                      + " one; choose another strategy there")
                  .formatted(block));
    };
  }

  @Override
  public void take(Connection connection, List<SqlRow> rows) throws SQLException {
    for (SqlRow row : rows) {
      change(connection, row, RUNNING, MOVING, " and trigger_next_time = " + row.version());
    }
  }

  @Override
  public void finish(Connection connection, List<SqlRow> rows) throws SQLException {
    for (SqlRow row : rows) {
      change(connection, row, MOVING, STOPPED, "");
    }
  }

  @Override
  public void putBack(Connection connection, SqlRow row) throws SQLException {
    change(connection, row, MOVING, RUNNING, "");
  }

  private void change(Connection connection, SqlRow row, int before, int status, String condition)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "update "
                + prefix
                + "info set trigger_status = ? where id = ? and trigger_status = ?"
                + condition)) {
      statement.setInt(1, status);
      statement.setLong(2, Long.parseLong(row.key().get(0)));
      statement.setInt(3, before);
      var unused = statement.executeUpdate();
    }
  }
}
