package io.punctual.benchmark.imports;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.Http;
import io.punctual.systemtest.StoredJobs;
import io.punctual.systemtest.Waiting;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Queue;
import java.util.TimeZone;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.quartz.CronExpression;
import tools.jackson.databind.JsonNode;

/**
 * Schedules move out of a table as XXL-JOB 3.4 has it. Its admin is published neither as a package
 * nor as a program, so a thread here does what its scheduling thread does to the table. Its cron
 * expressions are those of Quartz.
 */
@SuppressWarnings("JavaUtilDate") // Quartz knows no other.
@Tag("full")
class XxlJobImportIT {

  private static ImportSystem system;

  private final StoredJobs moved = system.application();

  @BeforeAll
  static void start() throws Exception {
    system = new ImportSystem();
  }

  @AfterAll
  static void stop() {
    system.close();
  }

  private static OldDatabase database() throws SQLException {
    OldDatabase database = OldDatabase.create(OldDatabase.Kind.MARIADB);
    database.run(
        "create table xxl_job_lock (lock_name varchar(50) primary key)",
        "insert into xxl_job_lock values ('schedule_lock')",
        """
        create table xxl_job_info (
          id int not null auto_increment primary key, job_group int not null,
          schedule_type varchar(50) not null default 'NONE', schedule_conf varchar(128),
          misfire_strategy varchar(50) not null default 'DO_NOTHING',
          executor_route_strategy varchar(50) default 'FIRST', executor_handler varchar(255),
          executor_param text, executor_block_strategy varchar(50) default 'SERIAL_EXECUTION',
          glue_type varchar(50) not null default 'BEAN', child_jobid varchar(255),
          trigger_status tinyint not null default 0,
          trigger_last_time bigint not null default 0, trigger_next_time bigint not null default 0)
        """);
    return database;
  }

  private static void add(OldDatabase old, String type, String conf, Instant next, String more)
      throws SQLException {
    old.run(
        ("insert into xxl_job_info set job_group = 1, schedule_type = '%s', schedule_conf = '%s',"
                + " executor_param = 'tenant=7', trigger_next_time = %d%s%s%s")
            .formatted(
                type,
                conf,
                next.toEpochMilli(),
                more.contains("executor_handler") ? "" : ", executor_handler = 'report'",
                more.contains("trigger_status") ? "" : ", trigger_status = 1",
                more));
  }

  private static CronExpression cron(String expression, String zone) throws Exception {
    CronExpression cron = new CronExpression(expression);
    cron.setTimeZone(TimeZone.getTimeZone(zone));
    return cron;
  }

  private static List<Instant> next(CronExpression cron, int count) {
    List<Instant> next = new ArrayList<>();
    Date last = new Date();
    for (int i = 0; i < count; i++) {
      last = cron.getNextValidTimeAfter(last);
      next.add(last.toInstant());
    }
    return next;
  }

  @Test
  void schedulesHaveTheSameNextRunsAndOthersStay() throws Exception {
    String zone = "Asia/Shanghai";
    // At no time have they the same next run in Berlin.
    List<String> expressions = List.of("0 30 2 ? * 2-6", "0 0 9 L * ? *", "0 0/10 8-9 ? * MON-FRI");
    try (OldDatabase old = database()) {
      List<List<Instant>> expected = new ArrayList<>();
      for (String expression : expressions) {
        expected.add(next(cron(expression, zone), 20));
        add(
            old,
            "CRON",
            expression,
            expected.getLast().getFirst(),
            ", misfire_strategy = 'FIRE_ONCE_NOW'");
      }
      Instant soon = Instant.ofEpochMilli(Instant.now().plusSeconds(900).toEpochMilli());
      add(old, "FIX_RATE", "300", soon, ", executor_block_strategy = 'DISCARD_LATER'");
      Instant daily = next(cron("0 0 3 * * ?", zone), 1).getFirst();
      add(old, "CRON", "0 0 3 * * ?", daily, ", glue_type = 'GLUE_SHELL'");
      add(old, "CRON", "0 0 3 * * ?", daily, ", executor_route_strategy = 'SHARDING_BROADCAST'");
      add(old, "CRON", "0 0 3 * * ?", daily, ", child_jobid = '7,8'");
      add(old, "CRON", "0 0 3 * * ?", daily, ", executor_block_strategy = 'COVER_EARLY'");
      add(old, "CRON", "0 0 3 * * ? 2099", daily, "");
      add(old, "CRON", "0 0 3 * * ?", daily, ", trigger_status = 0");
      add(old, "CRON", "0 0 3 * * ?", daily, ", executor_handler = 'other'");
      String rows =
          "select concat(id, ' ', trigger_status, ' ', trigger_next_time) from"
              + " xxl_job_info order by id";
      List<String> before = old.texts(rows);

      assertThat(system.run(old, moved, "xxl-job", "reprot"))
          .contains("No job of XXL-JOB has the handler reprot. Found: ");
      // A handler's name belongs to its executor.
      old.run("update xxl_job_info set job_group = 2 where id = 10");
      assertThat(system.run(old, moved, "xxl-job", "report"))
          .contains("Several executors have a handler of this name", ": 1|2/report");
      assertThat(system.run(old, moved, "xxl-job", "3/report"))
          .contains("The executor 3 has no jobs of the handler report");
      assertThat(old.texts(rows)).isEqualTo(before);

      assertThat(system.run(old, moved, "xxl-job", "1/report", "--zone=Europe/Berlin"))
          .contains(
              "The job '1' cannot be moved: the old side plans "
                  + expected.getFirst().getFirst()
                  + " next, but Punctual would plan",
              "0 jobs and 1 schedules were moved. 8 were refused");
      assertThat(old.texts(rows))
          .filteredOn(row -> !row.startsWith("4 "))
          .isEqualTo(before.stream().filter(row -> !row.startsWith("4 ")).toList());

      assertThat(system.run(old, moved, "xxl-job", "1/report", "--zone=" + zone))
          .contains(
              "The job '5' is a script (GLUE_SHELL)",
              "The job '6' is broadcast to all executors",
              "The job '7' starts the jobs 7,8 when it ends",
              "The job '8' has the block strategy COVER_EARLY",
              "The job '9' has the cron expression '0 0 3 * * ? 2099': it names years",
              "0 jobs and 3 schedules were moved. 5 were refused and are where they were.");

      assertThat(old.texts("select concat(id, ' ', trigger_status) from xxl_job_info order by id"))
          .containsExactly(
              "1 0", "2 0", "3 0", "4 0", "5 1", "6 1", "7 1", "8 1", "9 1", "10 0", "11 1");
      for (int i = 0; i < expected.size(); i++) {
        JsonNode schedule = system.schedule(moved, "xxl-job-" + (i + 1), 20);
        List<Instant> next = new ArrayList<>();
        schedule.get("preview").forEach(at -> next.add(Instant.parse(at.get("at").stringValue())));
        assertThat(next).isEqualTo(expected.get(i));
        assertThat(schedule.get("params").stringValue()).isEqualTo("tenant=7");
        assertThat(schedule.get("missed").stringValue()).isEqualTo("latest");
        assertThat(schedule.get("whileRunning").stringValue()).isEqualTo("queue");
      }
      JsonNode every = system.schedule(moved, "xxl-job-4", 1);
      assertThat(Instant.parse(every.get("nextAt").stringValue())).isEqualTo(soon);
      assertThat(every.get("every").longValue()).isEqualTo(300_000);
      assertThat(every.get("whileRunning").stringValue()).isEqualTo("skip");
    }
  }

  /** The runs before a schedule begins are more than a scheduler takes in one call. */
  @Test
  void largeRunsAreSubmittedInParts() throws Exception {
    try (OldDatabase old = database()) {
      add(old, "FIX_RATE", "1", Instant.now().minusSeconds(30), "");
      old.run(
          "alter table xxl_job_info modify executor_param longtext",
          "update xxl_job_info set executor_param = repeat('x', 250000)");

      assertThat(system.run(old, moved, "xxl-job", "report"))
          .contains("0 jobs and 1 schedules were moved.");

      assertThat(
              Http.delete(
                      system.url()
                          + "/api/v1/schedules/"
                          + moved.application()
                          + "/moved/xxl-job-1")
                  .status())
          .isEqualTo(200);
    }
    assertThat(moved.pull("moved")).hasSizeGreaterThan(80);
  }

  /** As the admin's scheduling thread, within its lock. */
  private static void look(Connection connection, CronExpression cron, Queue<Instant> ran)
      throws SQLException {
    try (Statement statement = connection.createStatement();
        PreparedStatement update =
            connection.prepareStatement(
                "update xxl_job_info set trigger_next_time = ? where id = ?")) {
      statement
          .executeQuery("select * from xxl_job_lock where lock_name = 'schedule_lock' for update")
          .close();
      try (ResultSet rows =
          statement.executeQuery(
              "select id, trigger_next_time from xxl_job_info where trigger_status = 1 and"
                  + " trigger_next_time <= "
                  + System.currentTimeMillis())) {
        while (rows.next()) {
          Date at = new Date(rows.getLong(2));
          ran.add(at.toInstant());
          update.setLong(1, cron.getNextValidTimeAfter(at).getTime());
          update.setInt(2, rows.getInt(1));
          var unused = update.executeUpdate();
        }
      }
    }
    connection.commit();
  }

  @Test
  void aScheduleMovesBetweenTwoOfItsRuns() throws Exception {
    CronExpression cron = cron("0/2 * * * * ?", "UTC");
    Queue<Instant> ran = new ConcurrentLinkedQueue<>();
    AtomicBoolean ended = new AtomicBoolean();
    List<JsonNode> here = new ArrayList<>();
    try (OldDatabase old = database()) {
      add(old, "CRON", "0/2 * * * * ?", next(cron, 1).getFirst(), "");
      Thread admin =
          new Thread(
              () -> {
                try (Connection connection = old.source().getConnection()) {
                  connection.setAutoCommit(false);
                  while (!ended.get()) {
                    look(connection, cron, ran);
                    Thread.sleep(10);
                  }
                } catch (SQLException | InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              },
              "admin");
      admin.start();
      Waiting.until("it ran three times", () -> ran.size() >= 3);

      assertThat(system.run(old, moved, "xxl-job", "report", "--zone=UTC"))
          .contains("schedule xxl-job-1 moved, 'CRON 0/2 * * * * ?' there");

      Waiting.until(
          "it ran three times here",
          Duration.ofMinutes(3),
          () -> {
            here.addAll(moved.run("moved"));
            return system.schedule(moved, "xxl-job-1", 1).at("/counts/fired").longValue() >= 3;
          });
      ended.set(true);
      admin.join();
      assertThat(old.texts("select trigger_status from xxl_job_info")).containsExactly("0");
    }
    assertThat(
            Http.delete(
                    system.url() + "/api/v1/schedules/" + moved.application() + "/moved/xxl-job-1")
                .status())
        .isEqualTo(200);
    List<Instant> all = new ArrayList<>(ran);
    here.addAll(moved.run("moved"));
    here.forEach(job -> all.add(Instant.ofEpochMilli(job.get("dueTime").longValue())));
    List<Instant> sorted = all.stream().sorted().toList();
    for (int i = 0; i < sorted.size(); i++) {
      assertThat(sorted.get(i)).isEqualTo(sorted.getFirst().plusSeconds(2L * i));
    }
    assertThat(sorted).hasSizeGreaterThan(30);
  }
}
