package io.punctual.server.migrate;

import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.Schedule;
import io.punctual.schedule.WhileRunning;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * The tables of Quartz 2. A trigger is taken by a state that Quartz does not know: it neither fires
 * such a trigger, nor resumes it, nor recovers it. A trigger that fires once is deleted afterwards;
 * one that recurs is paused.
 */
final class QuartzTables implements SqlTables {

  static final String PREFIX = "QRTZ_";

  private static final String MOVING = "PUNCTUAL_MOVES";
  private static final JsonMapper JSON = new JsonMapper();
  private static final int IGNORE_MISFIRES = -1;
  private static final int DO_NOTHING = 2;
  private static final int NEXT_WITH_REMAINING = 4;
  private static final int NEXT_WITH_EXISTING = 5;
  private static final String GROUP = "DEFAULT";

  // Of a serialized map; see Java's Object Serialization Stream Protocol.
  private static final byte[] MAP_CLASS =
      "org.quartz.JobDataMap".getBytes(StandardCharsets.US_ASCII);
  private static final int CLASS_NAME = 8;
  private static final short BLOCK_OF_EIGHT = 0x7708;
  private static final byte END_OF_BLOCK = 0x78;

  private final String prefix;
  private final PayloadFormat format;
  private final InstantSource clock;
  private final String job;
  private final String taskType;
  private String scheduler;

  /**
   * @param jobs class of the jobs; may have the name of the scheduler and a slash in front
   */
  QuartzTables(
      String prefix, String jobs, String taskType, PayloadFormat format, InstantSource clock) {
    this.prefix = prefix;
    this.format = format;
    this.clock = clock;
    this.taskType = taskType;
    int slash = jobs.indexOf('/');
    this.scheduler = slash < 0 ? "" : jobs.substring(0, slash);
    this.job = jobs.substring(slash + 1);
  }

  @Override
  public void open(Connection connection) throws SQLException {
    List<String> schedulers = new ArrayList<>();
    try (PreparedStatement statement =
        connection.prepareStatement(
            sql("select distinct SCHED_NAME from {}JOB_DETAILS where JOB_CLASS_NAME = ?"))) {
      statement.setString(1, job);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          schedulers.add(rows.getString(1));
        }
      }
    }
    SqlTables.requireKnown(
        "job of Quartz has the class",
        job,
        schedulers.isEmpty() ? classes(connection) : Set.of(job));
    if (scheduler.isEmpty() && schedulers.size() > 1) {
      throw new IllegalArgumentException(
          "Several schedulers of Quartz have jobs of this class. Write one of them in front: %s/%s"
              .formatted(String.join("|", schedulers), job));
    } else if (scheduler.isEmpty()) {
      scheduler = schedulers.get(0);
    } else {
      SqlTables.requireKnown(
          "job of Quartz with this class has the scheduler", scheduler, schedulers);
    }
  }

  private List<String> classes(Connection connection) throws SQLException {
    List<String> classes = new ArrayList<>();
    try (PreparedStatement statement =
            connection.prepareStatement(
                sql("select distinct JOB_CLASS_NAME from {}JOB_DETAILS order by 1"));
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        classes.add(rows.getString(1));
      }
    }
    return classes;
  }

  private String sql(String text) {
    return text.replace("{}", prefix);
  }

  /** Schedulers in a cluster have a row for it; others lock in their own process. */
  @Override
  public void lock(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            sql(
                "select LOCK_NAME from {}LOCKS where SCHED_NAME = ? and LOCK_NAME ="
                    + " 'TRIGGER_ACCESS' for update"))) {
      statement.setString(1, scheduler);
      statement.executeQuery().close();
    }
  }

  @Override
  public Duration settling() {
    return Duration.ofSeconds(1);
  }

  private PreparedStatement select(Connection connection, String condition) throws SQLException {
    PreparedStatement statement =
        connection.prepareStatement(
            sql(
                    "select t.TRIGGER_NAME, t.TRIGGER_GROUP, t.JOB_NAME, t.JOB_GROUP, t.NEXT_FIRE_TIME,"
                        + " t.TRIGGER_STATE, t.TRIGGER_TYPE, t.END_TIME, t.CALENDAR_NAME,"
                        + " t.MISFIRE_INSTR, t.JOB_DATA, j.JOB_DATA, j.IS_NONCONCURRENT,"
                        + " s.REPEAT_COUNT, s.REPEAT_INTERVAL, s.TIMES_TRIGGERED, c.CRON_EXPRESSION,"
                        + " c.TIME_ZONE_ID"
                        + " from {}TRIGGERS t"
                        + " join {}JOB_DETAILS j on j.SCHED_NAME = t.SCHED_NAME and j.JOB_NAME ="
                        + " t.JOB_NAME and j.JOB_GROUP = t.JOB_GROUP"
                        + " left join {}SIMPLE_TRIGGERS s on s.SCHED_NAME = t.SCHED_NAME and"
                        + " s.TRIGGER_NAME = t.TRIGGER_NAME and s.TRIGGER_GROUP = t.TRIGGER_GROUP"
                        + " left join {}CRON_TRIGGERS c on c.SCHED_NAME = t.SCHED_NAME and"
                        + " c.TRIGGER_NAME = t.TRIGGER_NAME and c.TRIGGER_GROUP = t.TRIGGER_GROUP"
                        + " where t.SCHED_NAME = ? and j.JOB_CLASS_NAME = ? and ")
                + condition);
    statement.setString(1, scheduler);
    statement.setString(2, job);
    return statement;
  }

  @Override
  public List<SqlRow> next(Connection connection, @Nullable SqlRow last, int max)
      throws SQLException {
    try (PreparedStatement statement =
        select(
            connection,
            "t.TRIGGER_STATE in ('WAITING', 'ACQUIRED', 'BLOCKED') and t.NEXT_FIRE_TIME > 0 and"
                + (last == null
                    ? ""
                    : " (t.TRIGGER_NAME > ? or (t.TRIGGER_NAME = ? and t.TRIGGER_GROUP > ?)) and")
                + " t.SCHED_NAME = j.SCHED_NAME"
                + " order by t.TRIGGER_NAME, t.TRIGGER_GROUP limit ?")) {
      int index = 3;
      if (last != null) {
        statement.setString(index++, last.key().get(0));
        statement.setString(index++, last.key().get(0));
        statement.setString(index++, last.key().get(1));
      }
      statement.setInt(index, max);
      return rows(statement);
    }
  }

  @Override
  public List<SqlRow> taken(Connection connection) throws SQLException {
    try (PreparedStatement statement = select(connection, "t.TRIGGER_STATE = ?")) {
      statement.setString(3, MOVING);
      return rows(statement);
    }
  }

  private List<SqlRow> rows(PreparedStatement statement) throws SQLException {
    List<SqlRow> rows = new ArrayList<>();
    try (ResultSet found = statement.executeQuery()) {
      while (found.next()) {
        Trigger trigger = Trigger.of(found);
        boolean waits =
            !trigger.state().equals("ACQUIRED") && trigger.next().isAfter(clock.instant());
        rows.add(
            SqlRow.of(
                List.of(trigger.name(), trigger.group(), trigger.jobName(), trigger.jobGroup()),
                trigger.next().toEpochMilli(),
                trigger.group() + "." + trigger.name(),
                trigger.isRecurring(),
                // Quartz handles misfires of those that are due, in its own way.
                trigger.isRecurring() || waits,
                () -> read(trigger)));
      }
    }
    return rows;
  }

  /**
   * A trigger with its job.
   *
   * @param left how often it fires behind {@code next}; negative for no bound
   * @param every ms; 0 unless it is a simple trigger that repeats
   */
  private record Trigger(
      String name,
      String group,
      String jobName,
      String jobGroup,
      Instant next,
      String state,
      String type,
      @Nullable Instant end,
      @Nullable String calendar,
      int misfire,
      byte[] data,
      byte[] jobData,
      boolean alone,
      long left,
      long every,
      @Nullable String cron,
      @Nullable String zone) {

    static Trigger of(ResultSet row) throws SQLException {
      long end = row.getLong(8);
      long repeats = row.getLong(14);
      return new Trigger(
          row.getString(1),
          row.getString(2),
          row.getString(3),
          row.getString(4),
          Instant.ofEpochMilli(row.getLong(5)),
          row.getString(6),
          row.getString(7),
          end <= 0 ? null : Instant.ofEpochMilli(end),
          row.getString(9),
          row.getInt(10),
          bytes(row.getBytes(11)),
          bytes(row.getBytes(12)),
          row.getBoolean(13),
          repeats < 0 ? -1 : Math.max(0, repeats - row.getLong(16)),
          row.getLong(15),
          row.getString(17),
          row.getString(18));
    }

    private static byte[] bytes(byte @Nullable [] bytes) {
      return bytes == null ? new byte[0] : bytes;
    }

    boolean isRecurring() {
      return !type.equals("SIMPLE") || left != 0;
    }

    Map<String, String> headers() {
      return OldIds.headers(
          "quartz-trigger", group + "." + name, "quartz-job", jobGroup + "." + jobName);
    }
  }

  private OldWork read(Trigger trigger) throws UnreadableException {
    if (trigger.calendar() != null) {
      throw new UnreadableException(
          "uses the calendar '%s' of Quartz: make a calendar in Punctual, and the schedule with it"
              .formatted(trigger.calendar()));
    }
    String id = id(trigger.group(), trigger.name());
    String params = params(trigger);
    if (!trigger.isRecurring()) {
      return new OldJob(id, trigger.next().toEpochMilli(), params, trigger.headers(), List.of());
    }
    return switch (trigger.type()) {
      case "CRON" -> cron(trigger, id, params);
      case "SIMPLE" -> simple(trigger, id, params);
      default ->
          throw new UnreadableException(
              "has a trigger of the type %s: make the schedule in Punctual, and remove it there"
                  .formatted(trigger.type()));
    };
  }

  // A colon is between group and name alone, so that two triggers have two ids.
  private String id(String group, String name) {
    String id = group.equals(GROUP) ? name : group + ":" + name;
    boolean clear = !group.contains(":") && (!group.equals(GROUP) || !name.contains(":"));
    return clear && OldIds.isId(id) ? id : OldIds.of("quartz", scheduler, group, name);
  }

  private String params(Trigger trigger) throws UnreadableException {
    byte[] ofJob = isEmptyMap(trigger.jobData()) ? new byte[0] : trigger.jobData();
    byte[] ofTrigger = isEmptyMap(trigger.data()) ? new byte[0] : trigger.data();
    if (format.base64()) {
      if (ofJob.length > 0 && ofTrigger.length > 0) {
        throw new UnreadableException(
            "has data both of its job and of its trigger: submit it in the application");
      }
      return format.text(ofJob.length > 0 ? ofJob : ofTrigger);
    }
    if (!PayloadFormat.isSerialized(ofJob) && !PayloadFormat.isSerialized(ofTrigger)) {
      Map<String, String> all = new TreeMap<>(properties(ofJob));
      all.putAll(properties(ofTrigger));
      return JSON.writeValueAsString(all);
    }
    throw new UnreadableException(
        "has data that Java serialized (useProperties is false), which only the application can"
            + " read: add --base64, and let the worker deserialize them with its own classes");
  }

  private static Map<String, String> properties(byte[] data) throws UnreadableException {
    Properties properties = new Properties();
    try {
      properties.load(new ByteArrayInputStream(data));
    } catch (IOException | IllegalArgumentException e) {
      throw new UnreadableException("has data that are no properties");
    }
    Map<String, String> map = new TreeMap<>();
    properties.stringPropertyNames().forEach(key -> map.put(key, properties.getProperty(key)));
    return map;
  }

  /**
   * Returns whether this is a serialized map of Quartz without entries: at its end are the number
   * of buckets, the number of entries, which is 0, the end of the map, and a flag.
   */
  private static boolean isEmptyMap(byte[] data) {
    int end = data.length - 12;
    if (!PayloadFormat.isSerialized(data) || end < MAP_CLASS.length) {
      return false;
    }
    ByteBuffer tail = ByteBuffer.wrap(data, end, 12);
    short block = tail.getShort();
    tail.getInt();
    return block == BLOCK_OF_EIGHT
        && tail.getInt() == 0
        && tail.get() == END_OF_BLOCK
        && Arrays.equals(
            MAP_CLASS, 0, MAP_CLASS.length, data, CLASS_NAME, CLASS_NAME + MAP_CLASS.length);
  }

  private OldSchedule cron(Trigger trigger, String id, String params) throws UnreadableException {
    String expression = String.valueOf(trigger.cron());
    Schedule.Builder schedule =
        begin(trigger, id, params, missed(trigger, DO_NOTHING, DO_NOTHING))
            .cron(
                QuartzCron.translated(expression), OldSchedule.zone(String.valueOf(trigger.zone())))
            .gap(Gap.SKIP)
            .fold(Fold.LAST);
    if (trigger.end() != null) {
      schedule.until(trigger.end());
    }
    return new OldSchedule(schedule.build(), trigger.next(), expression);
  }

  private OldSchedule simple(Trigger trigger, String id, String params) {
    Duration every = Duration.ofMillis(trigger.every());
    // By itself, one without a bound waits for its next time.
    int instruction = trigger.misfire() == 0 && trigger.left() < 0 ? DO_NOTHING : trigger.misfire();
    Schedule.Builder schedule =
        begin(
                trigger,
                id,
                params,
                instruction == DO_NOTHING && trigger.misfire() == 0
                    ? Missed.NONE
                    : missed(trigger, NEXT_WITH_REMAINING, NEXT_WITH_EXISTING))
            .every(every, trigger.next());
    Instant last =
        trigger.left() < 0 ? null : trigger.next().plus(every.multipliedBy(trigger.left()));
    if (trigger.end() != null && (last == null || !last.isBefore(trigger.end()))) {
      last = trigger.end().minusMillis(1);
    }
    if (last != null) {
      schedule.until(last);
    }
    return new OldSchedule(schedule.build(), trigger.next(), every + " from " + trigger.next());
  }

  private Schedule.Builder begin(Trigger trigger, String id, String params, Missed missed) {
    Schedule.Builder schedule =
        Schedule.of(taskType, id)
            .params(params)
            .whileRunning(trigger.alone() ? WhileRunning.QUEUE : WhileRunning.START)
            .missed(missed);
    trigger.headers().forEach(schedule::header);
    return schedule;
  }

  private static Missed missed(Trigger trigger, int none, int noneToo) {
    if (trigger.misfire() == IGNORE_MISFIRES && !trigger.alone()) {
      return Missed.ALL;
    }
    return trigger.misfire() == none || trigger.misfire() == noneToo ? Missed.NONE : Missed.LATEST;
  }

  @Override
  public void take(Connection connection, List<SqlRow> rows) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            sql(
                "update {}TRIGGERS set TRIGGER_STATE = ? where SCHED_NAME = ? and TRIGGER_NAME = ?"
                    + " and TRIGGER_GROUP = ? and NEXT_FIRE_TIME = ?"
                    + " and TRIGGER_STATE in ('WAITING', 'BLOCKED', ?)"))) {
      for (SqlRow row : rows) {
        statement.setString(1, MOVING);
        statement.setString(2, scheduler);
        statement.setString(3, row.key().get(0));
        statement.setString(4, row.key().get(1));
        statement.setLong(5, row.version());
        // A trigger that recurs may always be about to fire. Quartz looks again before it does.
        statement.setString(6, row.isRecurring() ? "ACQUIRED" : "WAITING");
        statement.addBatch();
      }
      var unused = statement.executeBatch();
    }
  }

  @Override
  public void finish(Connection connection, List<SqlRow> rows) throws SQLException {
    for (SqlRow row : rows) {
      if (row.isRecurring()) {
        state(connection, row, "?", "PAUSED");
      }
    }
    List<SqlRow> once = rows.stream().filter(row -> !row.isRecurring()).toList();
    List<List<String>> keys = once.stream().map(SqlRow::key).toList();
    String key = " where SCHED_NAME = ? and TRIGGER_NAME = ? and TRIGGER_GROUP = ? and ";
    delete(
        connection,
        keys,
        "delete from {}SIMPLE_TRIGGERS"
            + key
            + "exists (select 1 from {}TRIGGERS t where t.SCHED_NAME = {}SIMPLE_TRIGGERS.SCHED_NAME"
            + " and t.TRIGGER_NAME = {}SIMPLE_TRIGGERS.TRIGGER_NAME and t.TRIGGER_GROUP ="
            + " {}SIMPLE_TRIGGERS.TRIGGER_GROUP and t.TRIGGER_STATE = '"
            + MOVING
            + "')");
    delete(connection, keys, "delete from {}TRIGGERS" + key + "TRIGGER_STATE = '" + MOVING + "'");
    // Jobs that are not durable go with their last trigger.
    delete(
        connection,
        once.stream().map(row -> row.key().subList(2, 4)).distinct().toList(),
        "delete from {}JOB_DETAILS where SCHED_NAME = ? and JOB_NAME = ? and JOB_GROUP = ? and not"
            + " IS_DURABLE and not exists (select 1 from {}TRIGGERS t where t.SCHED_NAME ="
            + " {}JOB_DETAILS.SCHED_NAME and t.JOB_NAME = {}JOB_DETAILS.JOB_NAME and t.JOB_GROUP ="
            + " {}JOB_DETAILS.JOB_GROUP)");
  }

  private void delete(Connection connection, List<List<String>> keys, String text)
      throws SQLException {
    if (keys.isEmpty()) {
      return;
    }
    try (PreparedStatement statement = connection.prepareStatement(sql(text))) {
      for (List<String> key : keys) {
        statement.setString(1, scheduler);
        statement.setString(2, key.get(0));
        statement.setString(3, key.get(1));
        statement.addBatch();
      }
      var unused = statement.executeBatch();
    }
  }

  private void state(Connection connection, SqlRow row, String expression, String state)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            sql(
                "update {}TRIGGERS set TRIGGER_STATE = "
                    + expression
                    + " where SCHED_NAME = ? and TRIGGER_NAME = ? and TRIGGER_GROUP = ? and"
                    + " TRIGGER_STATE = ?"))) {
      statement.setString(1, state);
      statement.setString(2, scheduler);
      statement.setString(3, row.key().get(0));
      statement.setString(4, row.key().get(1));
      statement.setString(5, MOVING);
      var unused = statement.executeUpdate();
    }
  }

  /** As Quartz does it: a job that must not run beside itself blocks its triggers. */
  @Override
  public void putBack(Connection connection, SqlRow row) throws SQLException {
    state(
        connection,
        row,
        "case when exists (select 1 from {}FIRED_TRIGGERS f where f.SCHED_NAME ="
            + " {}TRIGGERS.SCHED_NAME and f.JOB_NAME = {}TRIGGERS.JOB_NAME and f.JOB_GROUP ="
            + " {}TRIGGERS.JOB_GROUP and f.STATE = 'EXECUTING' and f.IS_NONCONCURRENT = true)"
            + " then 'BLOCKED' else ? end",
        "WAITING");
  }
}
