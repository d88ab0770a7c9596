package io.punctual.benchmark.contender;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.SchedulableInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import io.punctual.benchmark.contest.Contender;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** db-scheduler on PostgreSQL, configured as its own benchmarks do for a small machine. */
final class DbScheduler implements Contender {

  private static final int THREADS = 20;

  private final Postgres postgres;
  private @Nullable OneTimeTask<String> task;
  private @Nullable Scheduler scheduler;

  DbScheduler(Surroundings surroundings) {
    this.postgres = new Postgres(surroundings);
  }

  @Override
  public String description() {
    return "db-scheduler "
        + version()
        + " on PostgreSQL: pollUsingLockAndFetch(4.0, 20.0), 20 threads, polls every 100 ms,"
        + " immediate execution, the published table and indexes";
  }

  private static String version() {
    Properties properties = new Properties();
    String file = "/META-INF/maven/com.github.kagkarlsson/db-scheduler/pom.properties";
    try (InputStream in = Scheduler.class.getResourceAsStream(file)) {
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version", "");
  }

  @Override
  public void open(Consumer<String> handler) throws Exception {
    postgres.run(
        """
        create table scheduled_tasks (
          task_name text not null, task_instance text not null, task_data bytea,
          execution_time timestamp with time zone not null, picked boolean not null,
          picked_by text, last_success timestamp with time zone,
          last_failure timestamp with time zone, consecutive_failures int,
          last_heartbeat timestamp with time zone, version bigint not null, priority smallint,
          primary key (task_name, task_instance))""",
        "create index execution_time_idx on scheduled_tasks (execution_time)",
        "create index last_heartbeat_idx on scheduled_tasks (last_heartbeat)",
        "create index priority_execution_time_idx"
            + " on scheduled_tasks (priority desc, execution_time asc)");
    OneTimeTask<String> known =
        Tasks.oneTime("job", String.class)
            .execute((instance, context) -> handler.accept(instance.getData()));
    task = known;
    scheduler =
        Scheduler.create(postgres.source(), List.of(known))
            .pollUsingLockAndFetch(4.0, 20.0)
            .threads(THREADS)
            .pollingInterval(Duration.ofMillis(100))
            .enableImmediateExecution()
            .alwaysPersistTimestampInUTC()
            .shutdownMaxWait(Duration.ofSeconds(5))
            .build();
    scheduler.start();
  }

  @Override
  public void submit(Job job) {
    scheduler().schedule(task().instance(job.id(), job.payload()), Instant.ofEpochMilli(job.due()));
  }

  @Override
  public String bulkCall() {
    return "scheduleBatch(500)";
  }

  @Override
  public void bulk(List<Job> jobs) {
    List<SchedulableInstance<?>> instances = new ArrayList<>(jobs.size());
    for (Job job : jobs) {
      instances.add(
          SchedulableInstance.of(
              task().instance(job.id(), job.payload()), Instant.ofEpochMilli(job.due())));
    }
    scheduler().scheduleBatch(instances);
  }

  @Override
  public long pending() throws Exception {
    return postgres.number("select count(*) from scheduled_tasks");
  }

  @Override
  public void clear() throws Exception {
    postgres.run("truncate scheduled_tasks");
  }

  @Override
  public void settle() throws Exception {
    postgres.run("analyze scheduled_tasks");
  }

  @Override
  public long storeBytes() throws Exception {
    return postgres.number("select pg_total_relation_size('scheduled_tasks')");
  }

  private Scheduler scheduler() {
    if (scheduler == null) {
      throw new IllegalStateException("not open");
    }
    return scheduler;
  }

  private OneTimeTask<String> task() {
    if (task == null) {
      throw new IllegalStateException("not open");
    }
    return task;
  }

  @Override
  public void close() {
    if (scheduler != null) {
      scheduler.stop();
    }
    postgres.close();
  }
}
