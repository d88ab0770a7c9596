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
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The tables of JobRunr 8. A scheduled job is taken under its version, by a state that JobRunr does
 * not know. A recurring job has no state: it is kept among JobRunr's metadata meanwhile, where its
 * servers do not find it.
 */
final class JobRunrTables implements SqlTables {

  static final String PREFIX = "jobrunr_";

  private static final String SCHEDULED = "SCHEDULED";
  private static final String MOVING = "PUNCTUAL_MOVES";
  private static final String KEPT = "punctual-import";
  private static final String KEPT_ID = KEPT + "-";
  private static final String JOB = "job";
  private static final String RECURRING = "recurring";
  private static final String CONTEXT = "org.jobrunr.jobs.context.JobContext";

  /** How much longer than its poll interval a server may hold what it has read. */
  private static final Duration SLACK = Duration.ofSeconds(30);

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private final String prefix;
  private final String signature;
  private final String taskType;
  private final InstantSource clock;
  private Duration poll = Duration.ZERO;
  // Whether a server of the old side is alive.
  private boolean served;
  private String idParameter = "?";

  /**
   * @param signature of the jobs, such as {@code com.shop.Orders.close(java.lang.String)}
   */
  JobRunrTables(String prefix, String signature, String taskType, InstantSource clock) {
    this.prefix = prefix;
    this.signature = signature;
    this.taskType = taskType;
    this.clock = clock;
  }

  private String sql(String text) {
    return text.replace("{}", prefix).replace("{id}", idParameter);
  }

  @Override
  public void open(Connection connection) throws SQLException {
    if (connection.getMetaData().getDatabaseProductName().equals("PostgreSQL")) {
      // It would compare the column as a text, without its index.
      idParameter = "cast(? as char(36))";
    }
    TreeSet<String> signatures = new TreeSet<>();
    try (PreparedStatement statement =
            connection.prepareStatement(
                sql(
                    "select max(pollIntervalInSeconds), max(lastHeartbeat) from"
                        + " {}backgroundjobservers where running = 1"));
        ResultSet rows = statement.executeQuery()) {
      if (rows.next()) {
        poll = Duration.ofSeconds(rows.getLong(1));
        Timestamp beat = rows.getTimestamp(2, utc());
        // A killed one stays in the table.
        Instant alive = clock.instant().minus(poll.multipliedBy(4)).minus(SLACK);
        served = beat != null && beat.toInstant().isAfter(alive);
      }
    }
    try (PreparedStatement statement =
            connection.prepareStatement(sql("select distinct jobSignature from {}jobs"));
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        signatures.add(rows.getString(1));
      }
    }
    for (Recurring job : recurring(connection)) {
      signatures.add(job.signature());
    }
    for (Recurring job : kept(connection)) {
      signatures.add(job.signature());
    }
    SqlTables.requireKnown("job of JobRunr has the signature", signature, signatures);
  }

  /** A server may have read what was there up to a poll interval ago. */
  @Override
  public Duration settling() {
    return poll.plusSeconds(1);
  }

  /**
   * Recurring jobs come first, while the jobs that JobRunr made of them are still there. Those stay
   * as long as their recurring job does.
   */
  @Override
  public List<SqlRow> next(Connection connection, @Nullable SqlRow last, int max)
      throws SQLException {
    if (last == null) {
      List<SqlRow> rows = new ArrayList<>();
      for (Recurring job : recurring(connection)) {
        if (job.signature().equals(signature)) {
          rows.add(row(connection, job));
        }
      }
      if (!rows.isEmpty()) {
        return rows;
      }
    }
    String after = last == null || last.isRecurring() ? "" : last.key().get(1);
    try (PreparedStatement statement =
        connection.prepareStatement(
            sql(
                "select id, version, jobAsJson from {}jobs j where state = ? and jobSignature = ?"
                    + " and id > {id} and not exists (select 1 from {}recurring_jobs r where"
                    + " trim(r.id) = j.recurringJobId) and not exists (select 1 from {}metadata m"
                    + " where m.id = concat('"
                    + KEPT_ID
                    + "', j.recurringJobId)) order by id limit ?"))) {
      statement.setString(1, SCHEDULED);
      statement.setString(2, signature);
      statement.setString(3, after);
      statement.setInt(4, max);
      return rows(statement);
    }
  }

  @Override
  public List<SqlRow> taken(Connection connection) throws SQLException {
    List<SqlRow> rows = new ArrayList<>();
    for (Recurring job : kept(connection)) {
      if (job.signature().equals(signature)) {
        rows.add(row(connection, job));
      }
    }
    try (PreparedStatement statement =
        connection.prepareStatement(
            sql(
                "select id, version, jobAsJson from {}jobs where state = ? and jobSignature = ?"))) {
      statement.setString(1, MOVING);
      statement.setString(2, signature);
      rows.addAll(rows(statement));
    }
    return rows;
  }

  private List<SqlRow> rows(PreparedStatement statement) throws SQLException {
    // What is due sooner, a server may have read already.
    Instant soon = clock.instant().plus(poll).plus(SLACK);
    List<SqlRow> rows = new ArrayList<>();
    try (ResultSet found = statement.executeQuery()) {
      while (found.next()) {
        String id = found.getString(1).strip();
        String text = found.getString(3);
        SqlRow row =
            SqlRow.of(
                List.of(JOB, id), found.getLong(2), id, false, true, () -> read(id, json(text)));
        boolean isFree =
            !served
                || !(row.work() instanceof OldJob job)
                || Instant.ofEpochMilli(job.dueAt()).isAfter(soon);
        rows.add(row.free(isFree));
      }
    }
    return rows;
  }

  private static JsonNode json(String text) throws UnreadableException {
    try {
      return JSON.readTree(text);
    } catch (JacksonException e) {
      throw new UnreadableException("is no JSON");
    }
  }

  private static OldJob read(String id, JsonNode job) throws UnreadableException {
    JsonNode history = job.path("jobHistory");
    String at = history.path(history.size() - 1).path("scheduledAt").asString("");
    if (at.isEmpty()) {
      throw new UnreadableException("has no due time in its JSON");
    }
    return new OldJob(id, Instant.parse(at).toEpochMilli(), params(job), Map.of(), List.of());
  }

  /**
   * The parameter; several are a list. A context, which JobRunr makes for each run, is left out.
   */
  private static String params(JsonNode job) {
    List<JsonNode> all = new ArrayList<>();
    for (JsonNode parameter : job.path("jobDetails").path("jobParameters")) {
      if (!parameter.path("className").asString("").equals(CONTEXT)) {
        JsonNode value = parameter.path("object");
        all.add(value.isMissingNode() ? JSON.nullNode() : value);
      }
    }
    if (all.size() > 1) {
      return JSON.writeValueAsString(all);
    }
    JsonNode only = all.isEmpty() ? JSON.nullNode() : all.get(0);
    if (only.isNull()) {
      return "";
    }
    return only.isString() ? only.stringValue() : JSON.writeValueAsString(only);
  }

  /**
   * A recurring job.
   *
   * @param text its JSON
   * @param createdAt epoch ms, when it was defined last
   * @param since from when on JobRunr makes no jobs of it any more
   */
  private record Recurring(String id, String text, long createdAt, Instant since) {

    String signature() {
      try {
        return JSON.readTree(text).path("jobSignature").asString("");
      } catch (JacksonException e) {
        return "";
      }
    }
  }

  private List<Recurring> recurring(Connection connection) throws SQLException {
    List<Recurring> jobs = new ArrayList<>();
    try (PreparedStatement statement =
            connection.prepareStatement(
                sql("select id, jobAsJson, createdAt from {}recurring_jobs order by id"));
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        jobs.add(
            new Recurring(
                rows.getString(1).strip(), rows.getString(2), rows.getLong(3), clock.instant()));
      }
    }
    return jobs;
  }

  /** Those that were taken, unless the application has defined them again since. */
  private List<Recurring> kept(Connection connection) throws SQLException {
    List<Recurring> jobs = new ArrayList<>();
    try (PreparedStatement statement =
        connection.prepareStatement(
            sql(
                "select m.value from {}metadata m where m.name = ? and not exists (select 1 from"
                    + " {}recurring_jobs r where m.id = concat('"
                    + KEPT_ID
                    + "', trim(r.id))) order by m.id"))) {
      statement.setString(1, KEPT);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          JsonNode value = JSON.readTree(rows.getString(1));
          jobs.add(
              new Recurring(
                  value.path("id").stringValue(),
                  value.path("job").stringValue(),
                  value.path("createdAt").longValue(),
                  Instant.ofEpochMilli(value.path("takenAt").longValue())));
        }
      }
    }
    return jobs;
  }

  private SqlRow row(Connection connection, Recurring job) throws SQLException {
    Instant last = last(connection, job);
    return SqlRow.of(
        List.of(RECURRING, job.id()),
        job.createdAt(),
        job.id(),
        true,
        true,
        () -> schedule(job, last));
  }

  /**
   * Returns the last instant that JobRunr runs: that of the last job it has made. A server makes
   * jobs when it polls, so the latest instants may have none if a poll was late; these are left to
   * Punctual. While a job has not ended, JobRunr makes none on purpose. An ended job with a later
   * time had a retry that was not waited for.
   */
  private Instant last(Connection connection, Recurring job) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            sql(
                "select max(scheduledAt), max(case when state in ('SUCCEEDED', 'FAILED',"
                    + " 'DELETED') then 0 else 1 end) from {}jobs where recurringJobId = ? and"
                    + " (state not in ('SUCCEEDED', 'FAILED', 'DELETED') or scheduledAt <= ?)"))) {
      statement.setString(1, job.id());
      statement.setTimestamp(2, Timestamp.from(clock.instant()), utc());
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        Timestamp made = rows.getTimestamp(1, utc());
        Instant checked = job.since();
        if (rows.getInt(2) == 0) {
          Instant polled = checked.minus(poll).minus(SLACK);
          Instant created = Instant.ofEpochMilli(job.createdAt());
          checked = polled.isBefore(created) ? created : polled;
        }
        return made == null || made.toInstant().isBefore(checked) ? checked : made.toInstant();
      }
    }
  }

  private static Calendar utc() {
    return Calendar.getInstance(TimeZone.getTimeZone(ZoneOffset.UTC), Locale.ROOT);
  }

  private OldSchedule schedule(Recurring recurring, Instant last) throws UnreadableException {
    JsonNode job = json(recurring.text());
    if (recurring.createdAt() == 0) {
      // Its servers notice by the sum of these times that a job is gone.
      throw new UnreadableException(
          "was defined by a release of JobRunr before 5.2: define it again there first");
    }
    String expression = job.path("scheduleExpression").asString("");
    String id = recurring.id();
    Schedule.Builder schedule =
        Schedule.of(taskType, OldIds.isId(id) ? id : OldIds.of("jobrunr", id))
            .params(params(job))
            .missed(Missed.NONE)
            .whileRunning(WhileRunning.SKIP);
    OldIds.headers("jobrunr-id", id).forEach(schedule::header);
    if (expression.toUpperCase(Locale.ROOT).startsWith("P")) {
      Instant created = Instant.parse(job.path("createdAt").asString(""));
      schedule.every(Duration.parse(expression), created.truncatedTo(ChronoUnit.MILLIS));
    } else {
      schedule
          .cron(cron(expression), OldSchedule.zone(job.path("zoneId").asString("")))
          .gap(Gap.SHIFT)
          .fold(Fold.FIRST);
    }
    return OldSchedule.after(last, schedule.build(), expression);
  }

  /** Returns an expression that means the same in Punctual. */
  private static String cron(String expression) throws UnreadableException {
    String[] fields = expression.strip().toUpperCase(Locale.ROOT).split("\\s+", -1);
    int fourth = fields.length - 3;
    String flaw = "";
    if (expression.contains("[")) {
      flaw = "Punctual does not choose times by carbon intensity";
    } else if (fields.length != 5 && fields.length != 6) {
      flaw = "it has " + fields.length + " fields, not 5 or 6";
    } else if (fields.length == 6
        && !fields[fourth].startsWith("*")
        && !fields[fourth + 2].startsWith("*")) {
      flaw =
          "with seconds, Punctual runs it on days that fit both the day of month and the day of"
              + " week, and JobRunr on days that fit either; make two schedules";
    } else if ((fields[fourth].contains("L") && !fields[fourth].equals("L"))
        || !fields[fourth + 2].matches("[^L/]*|[0-6]L")) {
      flaw = "name its days one by one";
    }
    if (!flaw.isEmpty()) {
      throw new UnreadableException("has the cron expression '" + expression + "': " + flaw);
    }
    return String.join(" ", fields);
  }

  @Override
  public void take(Connection connection, List<SqlRow> rows) throws SQLException {
    for (SqlRow row : rows) {
      if (row.isRecurring()) {
        keep(connection, row);
      }
    }
    change(
        connection,
        rows,
        "update {}jobs set state = '"
            + MOVING
            + "', version = version + 1 where id = {id} and state = '"
            + SCHEDULED
            + "' and version = ?");
  }

  /** Else a recurring job would be back after the application has deleted it. */
  @Override
  public void tidy(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            sql(
                "delete from {}metadata where name = ? and id in (select concat('"
                    + KEPT_ID
                    + "', trim(r.id)) from {}recurring_jobs r)"))) {
      statement.setString(1, KEPT);
      var unused = statement.executeUpdate();
    }
  }

  private void keep(Connection connection, SqlRow row) throws SQLException {
    String id = row.key().get(1);
    for (Recurring job : recurring(connection)) {
      if (job.id().equals(id)
          && job.createdAt() == row.version()
          && remove(connection, "recurring_jobs", id)) {
        boolean unused = remove(connection, "metadata", KEPT_ID + id);
        insert(connection, job);
      }
    }
  }

  private boolean remove(Connection connection, String table, String id) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(sql("delete from {}" + table + " where id = ?"))) {
      statement.setString(1, id);
      return statement.executeUpdate() == 1;
    }
  }

  private void insert(Connection connection, Recurring job) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            sql(
                "insert into {}metadata (id, name, owner, value, createdAt, updatedAt)"
                    + " values (?, ?, ?, ?, current_timestamp, current_timestamp)"))) {
      statement.setString(1, KEPT_ID + job.id());
      statement.setString(2, KEPT);
      statement.setString(3, KEPT);
      statement.setString(
          4,
          JSON.writeValueAsString(
              Map.of(
                  "id",
                  job.id(),
                  "job",
                  job.text(),
                  "createdAt",
                  job.createdAt(),
                  "takenAt",
                  job.since().toEpochMilli())));
      var unused = statement.executeUpdate();
    }
  }

  @Override
  public void finish(Connection connection, List<SqlRow> rows) throws SQLException {
    for (SqlRow row : rows) {
      if (row.isRecurring()) {
        boolean unused = remove(connection, "metadata", KEPT_ID + row.key().get(1));
      }
    }
    change(
        connection,
        rows,
        "delete from {}jobs where id = {id} and state = '" + MOVING + "' and version = ?");
  }

  @Override
  public void putBack(Connection connection, SqlRow row) throws SQLException {
    if (!row.isRecurring()) {
      // Its JSON has the version, too, and was left as it was.
      change(
          connection,
          List.of(row),
          "update {}jobs set state = '"
              + SCHEDULED
              + "', version = version - 1 where id = {id} and state = '"
              + MOVING
              + "' and version = ?");
      return;
    }
    for (Recurring job : kept(connection)) {
      if (job.id().equals(row.key().get(1)) && remove(connection, "metadata", KEPT_ID + job.id())) {
        try (PreparedStatement statement =
            connection.prepareStatement(
                sql(
                    "insert into {}recurring_jobs (id, version, jobAsJson, createdAt)"
                        + " values (?, 1, ?, ?)"))) {
          statement.setString(1, job.id());
          statement.setString(2, job.text());
          statement.setLong(3, job.createdAt());
          var unused = statement.executeUpdate();
        }
      }
    }
  }

  private void change(Connection connection, List<SqlRow> rows, String text) throws SQLException {
    List<SqlRow> jobs = rows.stream().filter(row -> !row.isRecurring()).toList();
    if (jobs.isEmpty()) {
      return;
    }
    try (PreparedStatement statement = connection.prepareStatement(sql(text))) {
      for (SqlRow row : jobs) {
        statement.setString(1, row.key().get(1));
        statement.setLong(2, row.version());
        statement.addBatch();
      }
      var unused = statement.executeBatch();
    }
  }
}
