package io.punctual.benchmark.contender;

import static org.jobrunr.server.BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration;

import io.punctual.benchmark.contest.Contender;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.scheduling.JobBuilder;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.JobActivator;
import org.jobrunr.server.configuration.BackgroundJobServerThreadType;
import org.jobrunr.server.configuration.DefaultBackgroundJobServerWorkerPolicy;
import org.jobrunr.storage.sql.common.SqlStorageProviderFactory;
import org.jobrunr.utils.mapper.jackson3.Jackson3JsonMapper;
import org.jspecify.annotations.Nullable;

/** JobRunr on PostgreSQL; it polls every 5 s, the least that it allows there. */
final class JobRunrScheduler implements Contender {

  private final Postgres postgres;
  private @Nullable JobRequestScheduler scheduler;

  JobRunrScheduler(Surroundings surroundings) {
    this.postgres = new Postgres(surroundings);
  }

  /** A job. */
  public static final class Request implements JobRequest {

    private String payload = "";

    /** For its JSON mapper. */
    public Request() {}

    Request(String payload) {
      this.payload = payload;
    }

    /** What the job carries. */
    public String getPayload() {
      return payload;
    }

    /** For its JSON mapper. */
    public void setPayload(String payload) {
      this.payload = payload;
    }

    @Override
    public Class<Handler> getJobRequestHandler() {
      return Handler.class;
    }
  }

  /** Runs it. */
  public record Handler(Consumer<String> target) implements JobRequestHandler<Request> {
    @Override
    public void run(Request request) {
      target.accept(request.getPayload());
    }
  }

  @Override
  public String description() {
    return "JobRunr "
        + JobRunr.class.getPackage().getImplementationVersion()
        + " on PostgreSQL: job requests, polls every 5 s, virtual threads";
  }

  @Override
  public void open(Consumer<String> handler) {
    Handler only = new Handler(handler);
    scheduler =
        JobRunr.configure()
            .useJsonMapper(new Jackson3JsonMapper())
            .useJobActivator(
                new JobActivator() {
                  @Override
                  public <T> T activateJob(Class<T> type) {
                    return type.cast(only);
                  }
                })
            .useStorageProvider(SqlStorageProviderFactory.using(postgres.source()))
            .useBackgroundJobServer(
                usingStandardBackgroundJobServerConfiguration()
                    .andPollInterval(Duration.ofSeconds(5))
                    .andInterruptJobsAwaitDurationOnStopBackgroundJobServer(Duration.ofSeconds(2))
                    .andBackgroundJobServerWorkerPolicy(
                        new DefaultBackgroundJobServerWorkerPolicy(
                            BackgroundJobServerThreadType.VirtualThreads)))
            .initialize()
            .getJobRequestScheduler();
  }

  @Override
  public void submit(Job job) {
    var unused = scheduler().schedule(Instant.ofEpochMilli(job.due()), new Request(job.payload()));
  }

  @Override
  public String bulkCall() {
    return "create(500)";
  }

  @Override
  public void bulk(List<Job> jobs) {
    scheduler()
        .create(
            jobs.stream()
                .map(
                    job ->
                        JobBuilder.aJob()
                            .scheduleAt(Instant.ofEpochMilli(job.due()))
                            .withJobRequest(new Request(job.payload()))));
  }

  @Override
  public long pending() throws Exception {
    return postgres.number("select count(*) from jobrunr_jobs where state <> 'SUCCEEDED'");
  }

  @Override
  public void clear() throws Exception {
    postgres.run("truncate jobrunr_jobs");
  }

  @Override
  public int mostDrained() {
    return 2_000;
  }

  @Override
  public long storeBytes() throws Exception {
    return postgres.number("select pg_total_relation_size('jobrunr_jobs')");
  }

  private JobRequestScheduler scheduler() {
    if (scheduler == null) {
      throw new IllegalStateException("not open");
    }
    return scheduler;
  }

  @Override
  public void close() {
    JobRunr.destroy();
    postgres.close();
  }
}
