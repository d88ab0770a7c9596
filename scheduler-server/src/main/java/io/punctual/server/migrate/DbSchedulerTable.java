package io.punctual.server.migrate;

import io.punctual.wire.Limits;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The table of db-scheduler. A job is taken as its schedulers take it: it is picked under its
 * version. Their heartbeats are compared with a time that is far ahead, so that none of them
 * revives the job.
 */
final class DbSchedulerTable implements SqlTables {

  static final String TABLE = "scheduled_tasks";

  private static final String MARK = "punctual-import";
  private static final Duration KEPT = Duration.ofDays(365);
  private static final JsonMapper JSON = new JsonMapper();
  private static final String RECURRING =
      "is a recurring task, whose schedule is in the application's code: put a schedule in Punctual"
          + " there, and take the task out of the list of known tasks";
  private static final String SCHEDULES = "com.github.kagkarlsson.scheduler.task.schedule";
  // In the JSON of its serializers.
  private static final Set<String> SCHEDULE_TYPES = Set.of("cron", "fixedDelay", "daily");
  private static final String RECURRING_INSTANCE = "recurring";

  private final String table;
  private final String task;
  private final PayloadFormat format;
  private final InstantSource clock;

  DbSchedulerTable(String table, String task, PayloadFormat format, InstantSource clock) {
    this.table = table;
    this.task = task;
    this.format = format;
    this.clock = clock;
  }

  @Override
  public void open(Connection connection) throws SQLException {
    List<String> tasks = new ArrayList<>();
    try (PreparedStatement statement =
            connection.prepareStatement("select distinct task_name from " + table + " order by 1");
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        tasks.add(rows.getString(1));
      }
    }
    SqlTables.requireKnown("row of " + table + " has the task name", task, tasks);
  }

  @Override
  public List<SqlRow> next(Connection connection, @Nullable SqlRow last, int max)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            select("picked = ?" + (last == null ? "" : " and task_instance > ?"))
                + " order by task_instance limit ?")) {
      int index = 1;
      statement.setString(index++, task);
      statement.setBoolean(index++, false);
      if (last != null) {
        statement.setString(index++, last.key().get(0));
      }
      statement.setInt(index, max);
      return rows(statement);
    }
  }

  @Override
  public List<SqlRow> taken(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(select("picked = ? and picked_by = ?"))) {
      statement.setString(1, task);
      statement.setBoolean(2, true);
      statement.setString(3, MARK);
      return rows(statement);
    }
  }

  private String select(String condition) {
    return "select task_instance, task_data, execution_time, version from "
        + table
        + " where task_name = ? and "
        + condition;
  }

  private List<SqlRow> rows(PreparedStatement statement) throws SQLException {
    List<SqlRow> rows = new ArrayList<>();
    try (ResultSet found = statement.executeQuery()) {
      while (found.next()) {
        String instance = found.getString(1);
        byte[] data = found.getBytes(2);
        long due = found.getTimestamp(3).getTime();
        rows.add(
            SqlRow.of(
                List.of(instance),
                found.getLong(4),
                instance,
                instance.equals(RECURRING_INSTANCE),
                true,
                () -> read(instance, data, due)));
      }
    }
    return rows;
  }

  private OldJob read(String instance, byte @Nullable [] data, long due)
      throws UnreadableException {
    byte[] bytes = data == null ? new byte[0] : data;
    if (instance.equals(RECURRING_INSTANCE)
        || new String(bytes, StandardCharsets.ISO_8859_1).contains(SCHEDULES)) {
      throw new UnreadableException(RECURRING);
    }
    return new OldJob(
        Limits.isName(instance) ? instance : OldIds.of("db-scheduler", task, instance),
        due,
        bytes.length == 0 ? "" : params(format.text(bytes)),
        Map.of(),
        List.of());
  }

  /**
   * Text between quotes, and null, as serializers of JSON write them, are what they were before.
   */
  private static String params(String text) throws UnreadableException {
    if (text.equals("null")) {
      return "";
    } else if (!text.startsWith("\"") && !text.startsWith("{")) {
      return text;
    }
    JsonNode json;
    try {
      json = JSON.readTree(text);
    } catch (JacksonException e) {
      return text;
    }
    if (json.has("data")
        && SCHEDULE_TYPES.contains(json.path("schedule").path("type").asString(""))) {
      throw new UnreadableException(RECURRING);
    }
    return json.isString() ? json.stringValue() : text;
  }

  @Override
  public void take(Connection connection, List<SqlRow> rows) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "update "
                + table
                + " set picked = ?, picked_by = ?, last_heartbeat = ?, version = version + 1"
                + " where task_name = ? and task_instance = ? and version = ? and picked = ?")) {
      for (SqlRow row : rows) {
        statement.setBoolean(1, true);
        statement.setString(2, MARK);
        statement.setTimestamp(3, Timestamp.from(clock.instant().plus(KEPT)));
        statement.setString(4, task);
        statement.setString(5, row.key().get(0));
        statement.setLong(6, row.version());
        statement.setBoolean(7, false);
        statement.addBatch();
      }
      var unused = statement.executeBatch();
    }
  }

  @Override
  public void finish(Connection connection, List<SqlRow> rows) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "delete from "
                + table
                + " where task_name = ? and task_instance = ? and picked_by = ?")) {
      for (SqlRow row : rows) {
        statement.setString(1, task);
        statement.setString(2, row.key().get(0));
        statement.setString(3, MARK);
        statement.addBatch();
      }
      var unused = statement.executeBatch();
    }
  }

  @Override
  public void putBack(Connection connection, SqlRow row) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "update "
                + table
                + " set picked = ?, picked_by = null, last_heartbeat = null, version = version + 1"
                + " where task_name = ? and task_instance = ? and picked_by = ?")) {
      statement.setBoolean(1, false);
      statement.setString(2, task);
      statement.setString(3, row.key().get(0));
      statement.setString(4, MARK);
      var unused = statement.executeUpdate();
    }
  }
}
