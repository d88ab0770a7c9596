package io.punctual.benchmark.imports;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.Http;
import io.punctual.systemtest.StoredJobs;
import io.punctual.systemtest.Waiting;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.Set;
import java.util.TimeZone;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.quartz.CalendarIntervalScheduleBuilder;
import org.quartz.CronScheduleBuilder;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDataMap;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.TriggerKey;
import org.quartz.TriggerUtils;
import org.quartz.impl.SchedulerRepository;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.calendar.HolidayCalendar;
import org.quartz.spi.OperableTrigger;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;
import tools.jackson.databind.JsonNode;

/** Jobs and schedules move out of the tables of a real Quartz. */
@SuppressWarnings("JavaUtilDate") // Quartz knows no other.
@Tag("full")
class QuartzImportIT {

  private static final int JOBS = 3_000;
  private static final int DUE_SOON = 500;
  private static final int LATE = 100;
  private static final Date FAR = Date.from(Instant.parse("2033-05-18T03:33:20.123Z"));

  private static ImportSystem system;
  private static final Queue<String> RAN = new ConcurrentLinkedQueue<>();

  private final StoredJobs moved = system.application();

  @BeforeAll
  static void start() throws Exception {
    system = new ImportSystem();
  }

  @AfterAll
  static void stop() {
    system.close();
  }

  @BeforeEach
  void forget() {
    RAN.clear();
  }

  /** Notes what it runs. */
  public static final class Orders implements Job {
    @Override
    public void execute(JobExecutionContext context) {
      RAN.add(
          context.getMergedJobDataMap().getString("order")
              + " "
              + context.getScheduledFireTime().toInstant());
    }
  }

  /** Does not run beside itself. */
  @DisallowConcurrentExecution
  public static final class Report implements Job {
    @Override
    public void execute(JobExecutionContext context) {
      RAN.add("report " + context.getScheduledFireTime().toInstant());
    }
  }

  /** Our pool, as Quartz wants it. */
  private record Pool(OldDatabase database) implements ConnectionProvider {

    @Override
    public Connection getConnection() throws SQLException {
      return database.source().getConnection();
    }

    @Override
    public void shutdown() {}

    @Override
    public void initialize() {}
  }

  private static OldDatabase database(OldDatabase.Kind kind) throws IOException, SQLException {
    OldDatabase database = OldDatabase.create(kind);
    database.runFile(
        Scheduler.class,
        "/org/quartz/impl/jdbcjobstore/tables_"
            + (kind == OldDatabase.Kind.POSTGRESQL ? "postgres" : "mysql_innodb")
            + ".sql");
    return database;
  }

  private static Scheduler scheduler(
      OldDatabase database, String name, boolean clustered, boolean properties) throws Exception {
    // Else one of a test that failed would be used again.
    boolean unused = SchedulerRepository.getInstance().remove(name);
    String source = UUID.randomUUID().toString();
    DBConnectionManager.getInstance().addConnectionProvider(source, new Pool(database));
    Properties all = new Properties();
    all.put("org.quartz.scheduler.instanceName", name);
    all.put("org.quartz.scheduler.instanceId", source);
    all.put("org.quartz.threadPool.threadCount", "5");
    all.put("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
    all.put("org.quartz.jobStore.dataSource", source);
    all.put("org.quartz.jobStore.isClustered", Boolean.toString(clustered));
    all.put("org.quartz.jobStore.useProperties", Boolean.toString(properties));
    all.put(
        "org.quartz.jobStore.driverDelegateClass",
        database.kind() == OldDatabase.Kind.POSTGRESQL
            ? "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate"
            : "org.quartz.impl.jdbcjobstore.StdJDBCDelegate");
    return new StdSchedulerFactory(all).getScheduler();
  }

  /** Both sides run, and the move is ended by force on the way: each job runs on one side, once. */
  @ParameterizedTest
  @EnumSource
  void oneShotsMoveWhileBothSidesRun(OldDatabase.Kind kind) throws Exception {
    Map<String, Instant> due = new LinkedHashMap<>();
    try (OldDatabase old = database(kind)) {
      Scheduler scheduler = scheduler(old, "shop", kind == OldDatabase.Kind.POSTGRESQL, true);
      JobDetail durable =
          JobBuilder.newJob(Orders.class)
              .withIdentity("orders")
              .usingJobData("tenant", "7")
              .storeDurably()
              .build();
      scheduler.addJob(durable, true);
      Instant begin = Instant.now();
      fill(scheduler, durable, "later-", JOBS, begin.plusSeconds(3_600), due);
      fill(scheduler, durable, "soon-", DUE_SOON, Instant.now().plusSeconds(2), due);
      scheduler.start();
      try {
        Process broken = system.start(old, moved, "quartz", Orders.class.getName());
        Waiting.until("1,000 jobs are moved", () -> moved.waiting("moved") >= 1_000);
        broken.destroyForcibly().waitFor();
        fill(scheduler, durable, "late-", LATE, begin.plusSeconds(7_200), due);

        String said = system.run(old, moved, "quartz", Orders.class.getName());

        assertThat(said).contains("jobs were moved.").doesNotContain("refused");
        Waiting.until(
            "the old side has run the others",
            () -> old.number("select count(*) from QRTZ_TRIGGERS") == 0);
        assertThat(old.number("select count(*) from QRTZ_SIMPLE_TRIGGERS")).isZero();
        assertThat(old.texts("select JOB_NAME from QRTZ_JOB_DETAILS")).containsExactly("orders");
      } finally {
        scheduler.shutdown(true);
      }
    }
    assertThat(RAN).as("the old side had a part in it").isNotEmpty();
    List<String> all = new ArrayList<>(RAN);
    for (JsonNode job : moved.all()) {
      assertThat(Instant.parse(job.get("dueAt").stringValue()))
          .isEqualTo(due.get(job.get("taskId").stringValue()));
    }
    for (JsonNode job : moved.pull("moved")) {
      String id = job.get("taskId").stringValue();
      assertThat(job.get("params").stringValue())
          .isIn("{\"order\":\"" + id + "\",\"tenant\":\"7\"}", "{\"order\":\"" + id + "\"}");
      assertThat(job.at("/headers/quartz-trigger").stringValue()).isEqualTo("DEFAULT." + id);
      all.add(id + " " + due.get(id));
    }
    assertThat(all)
        .containsExactlyInAnyOrderElementsOf(
            due.entrySet().stream().map(one -> one.getKey() + " " + one.getValue()).toList());
  }

  /** Half of them are triggers of one job, the others have a job each. */
  private static void fill(
      Scheduler scheduler,
      JobDetail durable,
      String prefix,
      int count,
      Instant first,
      Map<String, Instant> due)
      throws Exception {
    Map<JobDetail, Set<? extends Trigger>> all = new LinkedHashMap<>();
    List<Trigger> ofDurable = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String id = prefix + i;
      Instant at = Instant.ofEpochMilli(first.plusMillis(20L * i).toEpochMilli());
      due.put(id, at);
      TriggerBuilder<Trigger> trigger =
          TriggerBuilder.newTrigger()
              .withIdentity(id)
              .usingJobData("order", id)
              .startAt(Date.from(at));
      if (i % 2 == 0) {
        ofDurable.add(trigger.forJob(durable).build());
      } else {
        JobDetail own = JobBuilder.newJob(Orders.class).withIdentity("job-of-" + id).build();
        all.put(own, Set.of(trigger.forJob(own).build()));
      }
    }
    all.put(durable, Set.copyOf(ofDurable));
    scheduler.scheduleJobs(all, true);
  }

  /**
   * A rhythm of two seconds goes on without a gap and without an instant that comes twice. On one
   * database, this waits until the new schedule runs; on the other, its plan has to fit.
   */
  @ParameterizedTest
  @EnumSource
  void aScheduleMovesBetweenTwoOfItsRuns(OldDatabase.Kind kind) throws Exception {
    List<Instant> instants = new ArrayList<>();
    try (OldDatabase old = database(kind)) {
      Scheduler scheduler = scheduler(old, "shop", kind == OldDatabase.Kind.POSTGRESQL, true);
      scheduler.scheduleJob(
          JobBuilder.newJob(Orders.class).withIdentity("rhythm").build(),
          TriggerBuilder.newTrigger()
              .withIdentity("rhythm", "some")
              .usingJobData("order", "rhythm")
              .withSchedule(CronScheduleBuilder.cronSchedule("0/2 * * * * ?"))
              .build());
      scheduler.start();
      try {
        Waiting.until("it ran three times", () -> RAN.size() >= 3);
        String state = "select TRIGGER_STATE from QRTZ_TRIGGERS";
        Process broken = system.start(old, moved, "quartz", Orders.class.getName());
        Waiting.untilOnce(
            "the trigger is taken", () -> old.texts(state).contains("PUNCTUAL_MOVES"));
        broken.destroyForcibly().waitFor();

        assertThat(system.run(old, moved, "quartz", Orders.class.getName()))
            .contains(
                "schedule some:rhythm moved, '0/2 * * * * ?' there", "1 schedules were moved.");

        assertThat(old.texts(state)).containsExactly("PAUSED");
        if (kind == OldDatabase.Kind.POSTGRESQL) {
          Waiting.until(
              "it ran three times here",
              Duration.ofMinutes(3),
              () -> system.schedule(moved, "some:rhythm", 1).at("/counts/fired").longValue() >= 3);
        } else {
          system
              .schedule(moved, "some:rhythm", 3)
              .get("preview")
              .forEach(next -> instants.add(Instant.parse(next.get("at").stringValue())));
        }
        // At once: a run that was planned must not become a job as well.
        assertThat(Http.delete(scheduleUrl("some:rhythm")).status()).isEqualTo(200);
      } finally {
        scheduler.shutdown(true);
      }
      RAN.forEach(ran -> instants.add(Instant.parse(ran.split(" ")[1])));
    }
    assertThat(RAN).hasSizeGreaterThanOrEqualTo(3);
    Map<String, Instant> here = new LinkedHashMap<>();
    for (JsonNode job : moved.all()) {
      here.put(job.get("taskId").stringValue(), Instant.parse(job.get("dueAt").stringValue()));
    }
    for (JsonNode job : moved.claim("moved")) {
      assertThat(job.get("params").stringValue()).isEqualTo("{\"order\":\"rhythm\"}");
      here.put(
          job.get("taskId").stringValue(), Instant.ofEpochMilli(job.get("dueTime").longValue()));
    }
    instants.addAll(here.values());
    List<Instant> sorted = instants.stream().sorted().toList();
    Instant first = sorted.getFirst();
    for (int i = 0; i < sorted.size(); i++) {
      assertThat(sorted.get(i)).isEqualTo(first.plusSeconds(2L * i));
    }
    assertThat(sorted).hasSizeGreaterThan(30);
  }

  private String scheduleUrl(String id) {
    return system.url() + "/api/v1/schedules/" + moved.application() + "/moved/" + id;
  }

  /** Each has the same next twenty runs here as there. */
  @ParameterizedTest
  @EnumSource
  void schedulesHaveTheSameNextRuns(OldDatabase.Kind kind) throws Exception {
    Map<String, Trigger> triggers = new LinkedHashMap<>();
    int number = 0;
    for (String cron :
        List.of(
            "0 0 9 L * ?",
            "0 30 2 ? * 2-6",
            "0 15 10 ? * 6L",
            "0 15 10 ? * 6#3",
            "0 0 12 LW * ?",
            "0 0/20 14,18 * * ?",
            "0 0 22-2 ? * FRI-MON",
            "0 0 6 L-3 * ?",
            "0 0 6 15W * ?",
            "10 5 0 1 1/3 ? *",
            "0 0 8 ? JAN-MAR L",
            "0 0 1 ? * 7/2")) {
      String zone = number % 2 == 0 ? "Europe/Berlin" : "America/New_York";
      triggers.put(
          "cron-" + number++,
          TriggerBuilder.newTrigger()
              .withSchedule(
                  CronScheduleBuilder.cronSchedule(cron).inTimeZone(TimeZone.getTimeZone(zone)))
              .build());
    }
    Date soon = Date.from(Instant.now().plusSeconds(900));
    triggers.put(
        "every",
        TriggerBuilder.newTrigger()
            .startAt(soon)
            .withSchedule(SimpleScheduleBuilder.repeatMinutelyForever(7))
            .build());
    triggers.put(
        "five-times",
        TriggerBuilder.newTrigger()
            .startAt(soon)
            .withSchedule(
                SimpleScheduleBuilder.simpleSchedule().withIntervalInSeconds(90).withRepeatCount(4))
            .build());
    try (OldDatabase old = database(kind)) {
      Scheduler scheduler = scheduler(old, "shop", true, true);
      Map<String, List<Instant>> expected = new LinkedHashMap<>();
      for (Map.Entry<String, Trigger> one : triggers.entrySet()) {
        JobDetail job = JobBuilder.newJob(Report.class).withIdentity(one.getKey()).build();
        Trigger trigger =
            one.getValue().getTriggerBuilder().withIdentity(one.getKey()).forJob(job).build();
        scheduler.scheduleJob(job, trigger);
        expected.put(
            one.getKey(),
            TriggerUtils.computeFireTimes((OperableTrigger) trigger, null, 20).stream()
                .map(Date::toInstant)
                .toList());
      }

      assertThat(system.run(old, moved, "quartz", Report.class.getName(), "--dry-run"))
          .contains("schedule cron-0, '0 0 9 L * ?' there, '0 0 9 L * *' in Europe/Berlin here")
          .contains("14 would be moved, and 0 be refused. This run changed nothing.");
      assertThat(old.texts("select distinct TRIGGER_STATE from QRTZ_TRIGGERS"))
          .containsExactly("WAITING");
      assertThat(system.run(old, moved, "quartz", Report.class.getName()))
          .contains("0 jobs and 14 schedules were moved.");

      assertThat(old.texts("select distinct TRIGGER_STATE from QRTZ_TRIGGERS"))
          .containsExactly("PAUSED");
      for (Map.Entry<String, List<Instant>> one : expected.entrySet()) {
        JsonNode schedule = system.schedule(moved, one.getKey(), 20);
        List<Instant> next = new ArrayList<>();
        schedule.get("preview").forEach(at -> next.add(Instant.parse(at.get("at").stringValue())));
        assertThat(next).as(one.getKey()).isEqualTo(one.getValue());
        assertThat(schedule.get("whileRunning").stringValue()).isEqualTo("queue");
      }
      // Paused ones can go on there.
      scheduler.resumeTrigger(TriggerKey.triggerKey("every"));
      assertThat(scheduler.getTriggerState(TriggerKey.triggerKey("every")))
          .isEqualTo(Trigger.TriggerState.NORMAL);
      scheduler.shutdown();
    }
  }

  @Test
  void whatPunctualCannotSayIsRefusedByNameAndStays() throws Exception {
    HolidayCalendar holidays = new HolidayCalendar();
    holidays.addExcludedDate(Date.from(Instant.parse("2033-01-01T00:00:00Z")));
    Map<String, TriggerBuilder<? extends Trigger>> triggers = new LinkedHashMap<>();
    int year = 2034;
    triggers.put(
        "year",
        TriggerBuilder.newTrigger()
            .withSchedule(CronScheduleBuilder.cronSchedule("0 0 9 * * ? " + year)));
    triggers.put(
        "day-28",
        TriggerBuilder.newTrigger()
            .withSchedule(CronScheduleBuilder.cronSchedule("0 0 9 28W * ?")));
    triggers.put(
        "holidays",
        TriggerBuilder.newTrigger()
            .modifiedByCalendar("holidays")
            .withSchedule(CronScheduleBuilder.cronSchedule("0 0 9 * * ?")));
    triggers.put(
        "months",
        TriggerBuilder.newTrigger()
            .withSchedule(
                CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
                    .withIntervalInMonths(1)));
    triggers.put(
        "zone",
        TriggerBuilder.newTrigger()
            .withSchedule(
                CronScheduleBuilder.cronSchedule("0 0 9 * * ?")
                    .inTimeZone(TimeZone.getTimeZone("GMT+02:30"))));
    triggers.put(
        "taken",
        TriggerBuilder.newTrigger().withSchedule(CronScheduleBuilder.cronSchedule("0 0 9 * * ?")));
    try (OldDatabase old = database(OldDatabase.Kind.POSTGRESQL)) {
      Scheduler scheduler = scheduler(old, "shop", true, true);
      scheduler.addCalendar("holidays", holidays, false, false);
      for (Map.Entry<String, TriggerBuilder<? extends Trigger>> one : triggers.entrySet()) {
        JobDetail job = JobBuilder.newJob(Orders.class).withIdentity(one.getKey()).build();
        scheduler.scheduleJob(
            job, one.getValue().withIdentity(one.getKey()).forJob(job).startAt(FAR).build());
      }
      assertThat(Http.put(scheduleUrl("taken"), "{\"every\":\"1h\"}").status()).isEqualTo(201);
      List<String> before = old.texts("select t::text from QRTZ_TRIGGERS t order by 1");

      String said = system.run(old, moved, "quartz", Orders.class.getName());

      assertThat(said)
          .contains(
              "The job 'DEFAULT.year' has the cron expression '0 0 9 * * ? "
                  + year
                  + "': it names years",
              "The job 'DEFAULT.day-28' has the cron expression '0 0 9 28W * ?': not each month has"
                  + " a weekday near day 28",
              "The job 'DEFAULT.holidays' uses the calendar 'holidays' of Quartz",
              "The job 'DEFAULT.months' has a trigger of the type CAL_INT",
              "The job 'DEFAULT.zone' has the time zone 'GMT+02:30'",
              "The job 'DEFAULT.taken' was refused: Punctual has another schedule with the id taken",
              "0 jobs were moved. 6 were refused and are where they were.");
      assertThat(old.texts("select t::text from QRTZ_TRIGGERS t order by 1")).isEqualTo(before);
      assertThat(system.schedule(moved, "taken", 1).get("every").longValue()).isEqualTo(3_600_000);

      assertThat(system.run(old, moved, "quartz", "com.shop.Unknown"))
          .contains("No job of Quartz has the class com.shop.Unknown. Found: ")
          .contains(Orders.class.getName());
      scheduler.shutdown();
    }
  }

  /** One that is made between the look and the PUT is not replaced. */
  @Test
  void aScheduleThatIsMadeMeanwhileStays() throws Exception {
    String path = "/api/v1/schedules/" + moved.application() + "/moved/nightly";
    try (OldDatabase old = database(OldDatabase.Kind.MARIADB);
        SchedulerProxy proxy =
            new SchedulerProxy(
                system.url(),
                "GET " + path,
                () -> {
                  var unused = Http.put(scheduleUrl("nightly"), "{\"every\":\"1h\"}");
                })) {
      Scheduler scheduler = scheduler(old, "shop", false, true);
      scheduler.scheduleJob(
          JobBuilder.newJob(Orders.class).withIdentity("nightly").build(),
          TriggerBuilder.newTrigger()
              .withIdentity("nightly")
              .withSchedule(CronScheduleBuilder.cronSchedule("0 0 3 * * ?"))
              .build());

      assertThat(
              system.run(
                  old, moved, "quartz", Orders.class.getName(), "--scheduler=" + proxy.url()))
          .contains("was refused: Punctual has another schedule with the id nightly")
          .contains("0 jobs were moved. 1 were refused and are where they were.");
      assertThat(old.texts("select TRIGGER_STATE from QRTZ_TRIGGERS")).containsExactly("WAITING");
      assertThat(system.schedule(moved, "nightly", 1).get("every").longValue())
          .isEqualTo(3_600_000);
      scheduler.shutdown();
    }
  }

  /** Without useProperties, which is the default, only jobs without data can be read. */
  @Test
  void serializedDataStayUntilTheWorkerReadsThem() throws Exception {
    try (OldDatabase old = database(OldDatabase.Kind.MARIADB)) {
      Scheduler shop = scheduler(old, "shop", false, false);
      Scheduler other = scheduler(old, "other", false, false);
      for (Scheduler one : List.of(shop, other)) {
        one.scheduleJob(
            JobBuilder.newJob(Orders.class).withIdentity("none").build(),
            TriggerBuilder.newTrigger().withIdentity("none").startAt(FAR).build());
        one.scheduleJob(
            JobBuilder.newJob(Orders.class).withIdentity("data").build(),
            TriggerBuilder.newTrigger()
                .withIdentity("data")
                .usingJobData("order", 7L)
                .startAt(FAR)
                .build());
      }
      String jobs = Orders.class.getName();

      assertThat(system.run(old, moved, "quartz", jobs))
          .contains("Several schedulers of Quartz have jobs of this class", "|", "/" + jobs);
      assertThat(system.run(old, moved, "quartz", "shop/" + jobs))
          .contains("The job 'DEFAULT.data' has data that Java serialized", "add --base64")
          .contains("1 jobs were moved. 1 were refused and are where they were.");
      assertThat(old.number("select count(*) from QRTZ_TRIGGERS where TRIGGER_STATE = 'WAITING'"))
          .isEqualTo(3);
      shop.scheduleJob(
          JobBuilder.newJob(Orders.class).withIdentity("empty").build(),
          TriggerBuilder.newTrigger().withIdentity("empty").startAt(FAR).build());
      assertThat(system.run(old, moved, "quartz", "shpo/" + jobs, "--base64"))
          .contains("No job of Quartz with this class has the scheduler shpo. Found: ")
          .doesNotContain("jobs were moved");
      assertThat(system.run(old, moved, "quartz", "shop/" + jobs, "--base64"))
          .contains("2 jobs were moved.");
      assertThat(old.texts("select SCHED_NAME from QRTZ_TRIGGERS"))
          .containsExactly("other", "other");
      shop.shutdown();
      other.shutdown();
    }
    Map<String, String> params =
        moved.pull("moved").stream()
            .collect(
                Collectors.toMap(
                    job -> job.get("taskId").stringValue(),
                    job -> job.get("params").stringValue()));
    assertThat(params)
        .containsOnlyKeys("none", "data", "empty")
        .containsEntry("none", "{}")
        .containsEntry("empty", "");
    try (ObjectInputStream in =
        new ObjectInputStream(
            new ByteArrayInputStream(Base64.getDecoder().decode(params.get("data"))))) {
      assertThat((JobDataMap) in.readObject()).containsEntry("order", 7L);
    }
  }
}
