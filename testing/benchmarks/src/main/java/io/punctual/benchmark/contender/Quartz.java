package io.punctual.benchmark.contender;

import io.punctual.benchmark.contest.Contender;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.matchers.GroupMatcher;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

/** Quartz: one job, a trigger for each of ours; on PostgreSQL or in memory. */
final class Quartz implements Contender {

  private static final int THREADS = 50;
  private static final int CONNECTIONS = 60;
  private static final String PAYLOAD = "payload";
  private static final JobDetail JOB =
      JobBuilder.newJob(org.quartz.Job.class).withIdentity("job").storeDurably().build();
  private static final String TRIGGERS =
      "qrtz_fired_triggers, qrtz_simple_triggers, qrtz_simprop_triggers, qrtz_cron_triggers,"
          + " qrtz_blob_triggers, qrtz_triggers";

  private final @Nullable Postgres postgres;
  private @Nullable Scheduler scheduler;

  private Quartz(@Nullable Postgres postgres) {
    this.postgres = postgres;
  }

  static Quartz onPostgres(Surroundings surroundings) {
    return new Quartz(new Postgres(surroundings, CONNECTIONS));
  }

  static Quartz inMemory() {
    return new Quartz(null);
  }

  @Override
  public String description() {
    return "Quartz "
        + Scheduler.class.getPackage().getImplementationVersion()
        + (postgres == null ? ", RAMJobStore: " : ", JobStoreTX on PostgreSQL: ")
        + "one durable job, a trigger a job, "
        + THREADS
        + " threads, batches of as many triggers";
  }

  @Override
  public void open(Consumer<String> handler) throws Exception {
    Properties properties = new Properties();
    properties.put("org.quartz.scheduler.instanceName", "bench");
    properties.put("org.quartz.scheduler.skipUpdateCheck", "true");
    properties.put("org.quartz.threadPool.threadCount", "" + THREADS);
    properties.put("org.quartz.scheduler.batchTriggerAcquisitionMaxCount", "" + THREADS);
    if (postgres != null) {
      postgres.run(tables());
      DBConnectionManager.getInstance().addConnectionProvider("bench", new Pool(postgres));
      properties.put("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
      properties.put(
          "org.quartz.jobStore.driverDelegateClass",
          "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate");
      properties.put("org.quartz.jobStore.useProperties", "true");
      properties.put("org.quartz.jobStore.acquireTriggersWithinLock", "true");
      properties.put("org.quartz.jobStore.dataSource", "bench");
    }
    Scheduler started = new StdSchedulerFactory(properties).getScheduler();
    started.setJobFactory(
        (bundle, unused) ->
            context -> handler.accept(bundle.getTrigger().getJobDataMap().getString(PAYLOAD)));
    started.addJob(JOB, true);
    started.start();
    scheduler = started;
  }

  private static String tables() throws IOException {
    String file = "/org/quartz/impl/jdbcjobstore/tables_postgres.sql";
    try (InputStream in = Scheduler.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IOException(file + " is not there");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).replaceAll("(?m)^--.*$", "");
    }
  }

  @SuppressWarnings("JavaUtilDate") // Quartz knows no other.
  private static Trigger trigger(Job job) {
    return TriggerBuilder.newTrigger()
        .withIdentity(job.id())
        .forJob(JOB)
        .usingJobData(PAYLOAD, job.payload())
        .startAt(new Date(job.due()))
        .withSchedule(
            SimpleScheduleBuilder.simpleSchedule().withMisfireHandlingInstructionFireNow())
        .build();
  }

  @Override
  public void submit(Job job) throws SchedulerException {
    Date unused = scheduler().scheduleJob(trigger(job));
  }

  @Override
  public String bulkCall() {
    return "scheduleJobs(500)";
  }

  @Override
  public void bulk(List<Job> jobs) throws SchedulerException {
    Set<Trigger> triggers = jobs.stream().map(Quartz::trigger).collect(Collectors.toSet());
    scheduler().scheduleJobs(Map.of(JOB, triggers), true);
  }

  @Override
  public long pending() throws Exception {
    return postgres == null
        ? scheduler().getTriggerKeys(GroupMatcher.anyGroup()).size()
        : postgres.number("select count(*) from qrtz_triggers");
  }

  @Override
  public void clear() throws Exception {
    if (postgres == null) {
      scheduler().clear();
      scheduler().addJob(JOB, true);
    } else {
      postgres.run("truncate " + TRIGGERS);
    }
  }

  @Override
  public void settle() throws Exception {
    if (postgres != null) {
      postgres.run("analyze");
    }
  }

  @Override
  public int mostDrained() {
    return postgres == null ? Integer.MAX_VALUE : 5_000;
  }

  @Override
  public long storeBytes() throws Exception {
    return postgres == null
        ? -1
        : postgres.number(
            "select pg_total_relation_size('qrtz_triggers')"
                + " + pg_total_relation_size('qrtz_simple_triggers')");
  }

  private Scheduler scheduler() {
    if (scheduler == null) {
      throw new IllegalStateException("not open");
    }
    return scheduler;
  }

  @Override
  public void close() {
    try {
      if (scheduler != null) {
        scheduler.shutdown();
      }
    } catch (SchedulerException e) {
      throw new IllegalStateException(e);
    } finally {
      if (postgres != null) {
        postgres.close();
      }
    }
  }

  /** Our pool, as Quartz wants it. */
  private record Pool(Postgres postgres) implements ConnectionProvider {

    @Override
    public Connection getConnection() throws SQLException {
      return postgres.source().getConnection();
    }

    @Override
    public void shutdown() {}

    @Override
    public void initialize() {}
  }
}
