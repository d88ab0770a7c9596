package io.punctual.benchmark.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jobrunr.server.BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration;

import io.punctual.systemtest.Http;
import io.punctual.systemtest.StoredJobs;
import io.punctual.systemtest.Waiting;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.configuration.JobRunrConfiguration;
import org.jobrunr.jobs.Job;
import org.jobrunr.jobs.JobDetails;
import org.jobrunr.jobs.JobParameter;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.jobs.states.EnqueuedState;
import org.jobrunr.jobs.states.ScheduledState;
import org.jobrunr.scheduling.JobBuilder;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.scheduling.ScheduleExpressionType;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.sql.common.SqlStorageProviderFactory;
import org.jobrunr.utils.mapper.jackson3.Jackson3JsonMapper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Jobs and recurring jobs move out of the tables of a real JobRunr. */
@Tag("full")
class JobRunrImportIT {

  private static final int JOBS = 3_000;
  private static final int DUE_SOON = 600;
  private static final int LATE = 100;

  /** A command leaves a job to the old side that is due within 35 seconds, and not run yet. */
  private static final Duration SOON = Duration.ofSeconds(33);

  private static final Instant FAR = Instant.parse("2033-05-18T03:33:20.123Z");
  private static final String SIGNATURE =
      Handler.class.getName() + ".run(" + Request.class.getName() + ")";

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

  @AfterEach
  void end() {
    JobRunr.destroy();
  }

  /** A job. */
  public record Request(String order) implements JobRequest {
    @Override
    public Class<Handler> getJobRequestHandler() {
      return Handler.class;
    }
  }

  /** Notes what it runs. */
  public static final class Handler implements JobRequestHandler<Request> {
    @Override
    public void run(Request request) {
      RAN.add(request.order());
    }
  }

  private static StorageProvider storage(OldDatabase old) {
    StorageProvider storage = SqlStorageProviderFactory.using(old.source());
    storage.setJobMapper(new JobMapper(new Jackson3JsonMapper()));
    return storage;
  }

  /** Starts JobRunr; its servers poll as often as they may. */
  private static JobRequestScheduler jobRunr(OldDatabase old, boolean server) {
    JobRunrConfiguration configuration =
        JobRunr.configure()
            .useJsonMapper(new Jackson3JsonMapper())
            .useJobActivator(
                new JobActivator() {
                  @Override
                  public <T> T activateJob(Class<T> type) {
                    return type.cast(new Handler());
                  }
                })
            .useStorageProvider(storage(old));
    if (server) {
      configuration.useBackgroundJobServer(
          usingStandardBackgroundJobServerConfiguration()
              .andPollInterval(Duration.ofSeconds(5))
              .andInterruptJobsAwaitDurationOnStopBackgroundJobServer(Duration.ofSeconds(2)));
    }
    return configuration.initialize().getJobRequestScheduler();
  }

  /** Both sides run, and the move is ended by force on the way: each job runs on one side, once. */
  @ParameterizedTest
  @EnumSource
  void scheduledJobsMoveWhileBothSidesRun(OldDatabase.Kind kind) throws Exception {
    Map<String, Instant> due = new ConcurrentHashMap<>();
    try (OldDatabase old = OldDatabase.create(kind)) {
      JobRequestScheduler jobRunr = jobRunr(old, true);
      Instant begin = Instant.now();
      fill(jobRunr, "later-", JOBS, begin.plusSeconds(3_600), 250, due);
      if (kind == OldDatabase.Kind.POSTGRESQL) {
        fill(jobRunr, "soon-", DUE_SOON, Instant.now().plusSeconds(2), 250, due);
      } else {
        // None is due when the old side has to run the last one, so there is less to wait for.
        fill(jobRunr, "soon-", DUE_SOON / 2, Instant.now().plusSeconds(2), 20, due);
        fill(jobRunr, "next-", DUE_SOON / 2, Instant.now().plusSeconds(90), 20, due);
      }

      Process broken = system.start(old, moved, "jobrunr", SIGNATURE);
      Waiting.until("1,000 jobs are moved", () -> moved.waiting("moved") >= 1_000);
      broken.destroyForcibly().waitFor();
      // The old side still gets some.
      fill(jobRunr, "late-", LATE, begin.plusSeconds(7_200), 250, due);

      assertThat(system.run(old, moved, "jobrunr", SIGNATURE))
          .contains("jobs were moved.")
          .doesNotContain("refused", "changed");
      Waiting.until(
          "the old side has run the others",
          Duration.ofMinutes(3),
          () -> old.number("select count(*) from jobrunr_jobs where state <> 'SUCCEEDED'") == 0);
      assertThat(old.number("select count(*) from jobrunr_jobs")).isEqualTo(RAN.size());
      JobRunr.destroy();
    }
    assertThat(RAN).as("the old side had a part in it").isNotEmpty();
    List<String> all = new ArrayList<>(RAN);
    for (JsonNode job : moved.pull("moved")) {
      all.add(
          JsonMapper.shared().readTree(job.get("params").stringValue()).get("order").stringValue());
    }
    assertThat(all).containsExactlyInAnyOrderElementsOf(due.keySet());
    assertThat(all.size() - RAN.size()).isGreaterThanOrEqualTo(JOBS + LATE);
  }

  /** No server would run them any more. */
  @Test
  void whatFellDueWhileTheOldSideWasStoppedMovesToo() throws Exception {
    Map<String, Instant> due = new ConcurrentHashMap<>();
    try (OldDatabase old = OldDatabase.create(OldDatabase.Kind.POSTGRESQL)) {
      fill(jobRunr(old, false), "overdue-", 20, Instant.now().minusSeconds(600), 1, due);

      assertThat(system.run(old, moved, "jobrunr", SIGNATURE))
          .contains("20 jobs were moved.")
          .doesNotContain("left to the old side");
      Waiting.until("they are in Punctual", () -> moved.waiting("moved") == 20);
    }
  }

  @Test
  void whatTheOldSideIsAboutToRunIsNotCountedAsMoved() throws Exception {
    Map<String, Instant> due = new ConcurrentHashMap<>();
    try (OldDatabase old = OldDatabase.create(OldDatabase.Kind.POSTGRESQL)) {
      JobRequestScheduler jobRunr = jobRunr(old, true);
      String servers = "select count(*) from jobrunr_backgroundjobservers where running = 1";
      Waiting.until("its server is there", () -> old.number(servers) == 1);
      fill(jobRunr, "later-", 10, Instant.now().plusSeconds(3_600), 1, due);
      fill(jobRunr, "soon-", 1, Instant.now().plus(SOON), 1, due);

      Process look = system.start(old, moved, "jobrunr", SIGNATURE, "--dry-run");
      assertThat(look.inputReader().lines().toList())
          .contains(
              "10 would be moved, and 0 be refused. 1 would be left to the old side, which is about"
                  + " to run them. This run changed nothing.");
      assertThat(look.waitFor()).isEqualTo(1);
      // The first one may have run by now.
      fill(jobRunr, "next-", 1, Instant.now().plus(SOON), 1, due);
      Process move = system.start(old, moved, "jobrunr", SIGNATURE);
      assertThat(move.inputReader().lines())
          .anyMatch(
              Pattern.compile(
                      "10 jobs were moved. [12] were left to the old side, which is about to run"
                          + " them\\.")
                  .asMatchPredicate());
      assertThat(move.waitFor()).isEqualTo(1);
      JobRunr.destroy();
    }
  }

  private static void fill(
      JobRequestScheduler jobRunr,
      String prefix,
      int count,
      Instant first,
      int stepMs,
      Map<String, Instant> due) {
    jobRunr.create(
        IntStream.range(0, count)
            .mapToObj(
                i -> {
                  Instant at = first.plusMillis((long) stepMs * i);
                  due.put(prefix + i, at);
                  return JobBuilder.aJob().scheduleAt(at).withJobRequest(new Request(prefix + i));
                }));
  }

  /**
   * A rhythm of five seconds goes on without a gap and without an instant that comes twice. On one
   * database, this waits until the new schedule runs; on the other, its plan has to fit.
   */
  @ParameterizedTest
  @EnumSource
  void aRecurringJobMovesBetweenTwoOfItsRuns(OldDatabase.Kind kind) throws Exception {
    List<Instant> there = new ArrayList<>();
    List<JsonNode> run = new ArrayList<>();
    List<Instant> planned = new ArrayList<>();
    try (OldDatabase old = OldDatabase.create(kind)) {
      JobRequestScheduler jobRunr = jobRunr(old, true);
      var unused =
          jobRunr.scheduleRecurrently(
              "rhythm", "*/5 * * * * *", ZoneId.of("UTC"), new Request("rhythm"));
      Waiting.until("it ran twice", Duration.ofMinutes(2), () -> RAN.size() >= 2);

      Process broken = system.start(old, moved, "jobrunr", SIGNATURE);
      String kept = "select count(*) from jobrunr_metadata where name = 'punctual-import'";
      Waiting.untilOnce("the job is taken", () -> old.number(kept) == 1);
      broken.destroyForcibly().waitFor();
      assertThat(old.number("select count(*) from jobrunr_recurring_jobs")).isZero();

      assertThat(system.run(old, moved, "jobrunr", SIGNATURE))
          .contains("schedule rhythm moved, '*/5 * * * * *' there", "and 1 schedules were moved.");

      assertThat(old.number(kept)).isZero();
      if (kind == OldDatabase.Kind.POSTGRESQL) {
        Waiting.until(
            "it ran three times here",
            Duration.ofMinutes(3),
            () -> {
              // Else the next run is skipped.
              run.addAll(moved.run("moved"));
              return system.schedule(moved, "rhythm", 1).at("/counts/fired").longValue() >= 3;
            });
      } else {
        system
            .schedule(moved, "rhythm", 3)
            .get("preview")
            .forEach(next -> planned.add(Instant.parse(next.get("at").stringValue())));
      }
      // At once: a run that was planned must not become a job as well.
      assertThat(Http.delete(scheduleUrl("rhythm")).status()).isEqualTo(200);
      Waiting.until(
          "the old side has run the others",
          () -> old.number("select count(*) from jobrunr_jobs where state <> 'SUCCEEDED'") == 0);
      assertThat(old.number("select count(*) from jobrunr_recurring_jobs")).isZero();
      JobRunr.destroy();
      for (String at : old.texts("select scheduledAt from jobrunr_jobs")) {
        there.add(Instant.parse(at.replace(' ', 'T').replaceFirst("(\\.0*)?$", "Z")));
      }
    }
    assertThat(there).doesNotHaveDuplicates().hasSize(RAN.size());
    List<Instant> here = here(run, planned);
    Instant last = there.stream().max(Instant::compareTo).orElseThrow();
    assertFiveSecondsApart(last.plusSeconds(5), here);
    assertThat(here).hasSizeGreaterThan(3);
  }

  /**
   * Returns when jobs are or were due in Punctual.
   *
   * @param run jobs that have run
   * @param planned runs of a schedule that are no jobs yet
   */
  private List<Instant> here(List<JsonNode> run, List<Instant> planned) throws IOException {
    Map<String, Instant> single = new LinkedHashMap<>();
    for (JsonNode job : moved.all()) {
      single.put(job.get("taskId").stringValue(), Instant.parse(job.get("dueAt").stringValue()));
    }
    List<JsonNode> all = new ArrayList<>(run);
    all.addAll(moved.run("moved"));
    for (JsonNode job : all) {
      single.put(
          job.get("taskId").stringValue(), Instant.ofEpochMilli(job.get("dueTime").longValue()));
    }
    return Stream.concat(single.values().stream(), planned.stream()).sorted().toList();
  }

  private static void assertFiveSecondsApart(Instant first, List<Instant> all) {
    assertThat(all)
        .containsExactlyElementsOf(
            Stream.iterate(first, at -> at.plusSeconds(5)).limit(all.size()).toList());
  }

  /** As when a poll of its server was late. */
  @ParameterizedTest
  @EnumSource
  void whatTheOldSideHasNotMadeOfARecurringJobRunsHere(OldDatabase.Kind kind) throws Exception {
    try (OldDatabase old = OldDatabase.create(kind)) {
      recur(jobRunr(old, false), "rhythm", "*/5 * * * * *", ZoneId.of("UTC"));
      List<Instant> planned = next(old, "rhythm", "*/5 * * * * *", ZoneId.of("UTC"));
      Waiting.until("two are over", () -> Instant.now().isAfter(planned.get(1)));

      assertThat(system.run(old, moved, "jobrunr", SIGNATURE)).contains("1 schedules were moved.");

      JsonNode first = system.schedule(moved, "rhythm", 1).at("/preview/0/at");
      List<Instant> here = here(List.of(), List.of(Instant.parse(first.stringValue())));
      assertThat(here).contains(planned.get(0), planned.get(1));
      assertFiveSecondsApart(here.get(0), here);
    }
  }

  /** What an earlier run kept of it is no longer valid then. */
  @ParameterizedTest
  @EnumSource
  void aRecurringJobThatWasDefinedAgainAndDeletedDoesNotComeBack(OldDatabase.Kind kind)
      throws Exception {
    try (OldDatabase old = OldDatabase.create(kind)) {
      JobRequestScheduler jobRunr = jobRunr(old, false);
      recur(jobRunr, "nightly", "0 3 * * *", ZoneId.of("UTC"));
      Process broken = system.start(old, moved, "jobrunr", SIGNATURE);
      String kept = "select count(*) from jobrunr_metadata where name = 'punctual-import'";
      Waiting.untilOnce("the job is taken", () -> old.number(kept) == 1);
      broken.destroyForcibly().waitFor();

      recur(jobRunr, "nightly", "0 9 1,L * *", ZoneId.of("UTC"));
      assertThat(system.run(old, moved, "jobrunr", SIGNATURE))
          .contains("The job 'nightly' has the cron expression '0 9 1,L * *'")
          .contains("0 jobs were moved. 1 were refused and are where they were.");
      jobRunr.deleteRecurringJob("nightly");

      assertThat(system.run(old, moved, "jobrunr", SIGNATURE))
          .contains("No job of JobRunr has the signature " + SIGNATURE + ". Found: none");
      assertThat(system.schedule(moved, "nightly", 1)).isNull();
      assertThat(old.number(kept)).isZero();
    }
  }

  private String scheduleUrl(String id) {
    return system.url() + "/api/v1/schedules/" + moved.application() + "/moved/" + id;
  }

  /** The job that JobRunr has made ahead, and the next runs of the schedule, are the same. */
  @ParameterizedTest
  @EnumSource
  void recurringJobsHaveTheSameNextRunsAndOthersStay(OldDatabase.Kind kind) throws Exception {
    Map<String, String> rules = new LinkedHashMap<>();
    rules.put("last-day", "0 9 L * *");
    rules.put("weekdays", "30 2 * * MON-FRI");
    rules.put("either", "15 10 1,15 * FRI");
    rules.put("seconds", "10 5 0 1 */3 *");
    rules.put("friday", "0 12 * * 5L");
    rules.put("hours", "0 1-23/11 * JAN-JUN *");
    rules.put("com.shop.Orders.close(int)", "PT49H");
    List<String> others = List.of("0 0 9 1 * MON", "0 9 1,L * *", "0 9 * * */2");
    ZoneId zone =
        ZoneId.of(kind == OldDatabase.Kind.MARIADB ? "Europe/Berlin" : "America/New_York");
    try (OldDatabase old = OldDatabase.create(kind)) {
      JobRequestScheduler jobRunr = jobRunr(old, true);
      for (Map.Entry<String, String> rule : rules.entrySet()) {
        recur(jobRunr, rule.getKey(), rule.getValue(), zone);
      }
      for (String rule : others) {
        recur(jobRunr, "other-" + others.indexOf(rule), rule, zone);
      }
      String made = "select count(*) from jobrunr_jobs where state = 'SCHEDULED'";
      Waiting.until(
          "JobRunr has made the next job of each",
          () -> old.number(made) == rules.size() + others.size());
      Map<String, List<Instant>> expected = new LinkedHashMap<>();
      for (Map.Entry<String, String> rule : rules.entrySet()) {
        expected.put(rule.getKey(), next(old, rule.getKey(), rule.getValue(), zone));
      }

      assertThat(system.run(old, moved, "jobrunr", SIGNATURE, "--dry-run"))
          .contains("schedule last-day, '0 9 L * *' there, '0 9 L * *' in " + zone + " here")
          .contains("7 would be moved, and 3 be refused. This run changed nothing.");
      assertThat(system.run(old, moved, "jobrunr", SIGNATURE))
          .contains(
              "The job 'other-0' has the cron expression '0 0 9 1 * MON': with seconds",
              "The job 'other-1' has the cron expression '0 9 1,L * *': name its days",
              "The job 'other-2' has the cron expression '0 9 * * */2': name its days",
              "7 jobs and 7 schedules were moved. 3 were refused and are where they were.");

      assertThat(old.texts("select trim(id) from jobrunr_recurring_jobs order by id"))
          .containsExactly("other-0", "other-1", "other-2");
      assertThat(old.texts("select recurringJobId from jobrunr_jobs order by recurringJobId"))
          .containsExactly("other-0", "other-1", "other-2");
      Map<String, List<Instant>> found = new LinkedHashMap<>();
      for (JsonNode job : moved.all()) {
        JsonNode whole = job(job.get("taskId").stringValue());
        String order =
            JsonMapper.shared()
                .readTree(whole.get("params").stringValue())
                .get("order")
                .stringValue();
        found
            .computeIfAbsent(order, key -> new ArrayList<>())
            .add(Instant.parse(job.get("dueAt").stringValue()));
      }
      for (JsonNode schedule : schedules()) {
        String order =
            JsonMapper.shared()
                .readTree(schedule.get("params").stringValue())
                .get("order")
                .stringValue();
        assertThat(schedule.at("/headers/jobrunr-id").stringValue()).isEqualTo(order);
        assertThat(schedule.get("whileRunning").stringValue()).isEqualTo("skip");
        assertThat(schedule.get("missed").stringValue()).isEqualTo("none");
        system
            .schedule(moved, schedule.get("id").stringValue(), 20)
            .get("preview")
            .forEach(at -> found.get(order).add(Instant.parse(at.get("at").stringValue())));
      }
      assertThat(found).isEqualTo(expected);
      JobRunr.destroy();
    }
  }

  private static void recur(JobRequestScheduler jobRunr, String id, String rule, ZoneId zone) {
    if (rule.startsWith("P")) {
      var unused = jobRunr.scheduleRecurrently(id, Duration.parse(rule), new Request(id));
    } else {
      var unused = jobRunr.scheduleRecurrently(id, rule, zone, new Request(id));
    }
  }

  /** As JobRunr computes them, in ms. */
  private static List<Instant> next(OldDatabase old, String id, String rule, ZoneId zone)
      throws Exception {
    String created = "select createdAt from jobrunr_recurring_jobs where id = '" + id + "'";
    Instant begin = Instant.ofEpochMilli(old.number(created));
    List<Instant> next = new ArrayList<>();
    Instant at = Instant.now();
    for (int i = 0; i < 21; i++) {
      at = ScheduleExpressionType.createScheduleFromString(rule).next(begin, at, zone);
      next.add(at);
    }
    return next;
  }

  private JsonNode job(String id) throws IOException {
    return Http.get(system.url() + "/api/v1/jobs/" + moved.application() + "/moved/" + id).json();
  }

  private List<JsonNode> schedules() throws IOException {
    List<JsonNode> all = new ArrayList<>();
    Http.get(system.url() + "/api/v1/schedules?application=" + moved.application())
        .json()
        .get("items")
        .forEach(all::add);
    return all;
  }

  @Test
  void parametersBecomeParamsAndWhatIsRefusedIsAsItWas() throws Exception {
    try (OldDatabase old = OldDatabase.create(OldDatabase.Kind.POSTGRESQL)) {
      StorageProvider storage = storage(old);
      save(storage, List.of(new JobParameter(String.class, "order 7")));
      save(storage, List.of());
      save(storage, List.of(new JobParameter(Request.class, new Request("8"))));
      save(
          storage,
          List.of(
              new JobParameter(String.class, "a"),
              JobParameter.JobContext,
              new JobParameter(BigDecimal.class, new BigDecimal("12.50"))));
      save(storage, List.of(new JobParameter(String.class, "x".repeat(300_000))));
      Job taken = new Job(details(List.of(new JobParameter(String.class, "9"))), at(FAR));
      var unused = storage.save(taken);
      String own =
          "{\"application\":\"%s\",\"taskType\":\"moved\",\"taskId\":\"%s\",\"delay\":\"1h\"}"
              .formatted(moved.application(), taken.getId());
      assertThat(Http.post(system.url() + "/api/v1/jobs", own).status()).isEqualTo(201);
      var unusedToo = storage.save(new Job(details(List.of()), new EnqueuedState()));

      assertThat(system.run(old, moved, "jobrunr", "com.shop.Orders.close"))
          .contains("No job of JobRunr has the signature com.shop.Orders.close. Found: ")
          .contains("com.shop.Orders.close(java.lang.String)");
      assertThat(
              system.run(
                  old, moved, "jobrunr", "com.shop.Orders.close(java.lang.String)", "--base64"))
          .contains("--base64 means nothing for jobrunr.");

      String rows = "select concat(id, state, version, jobAsJson) from jobrunr_jobs order by id";
      for (String signature : old.texts("select distinct jobSignature from jobrunr_jobs")) {
        List<String> before = old.texts(rows);
        String said = system.run(old, moved, "jobrunr", signature);
        if (signature.endsWith("(java.lang.String)")) {
          assertThat(said)
              .contains("has a payload of more than 262,144 bytes")
              .contains("The job '" + taken.getId() + "' was refused: HTTP 409")
              .contains("1 jobs were moved. 2 were refused and are where they were.");
        } else {
          assertThat(said).contains("1 jobs were moved.").doesNotContain("refused");
        }
        assertThat(before).containsAll(old.texts(rows));
      }
      assertThat(old.texts("select state from jobrunr_jobs"))
          .containsExactlyInAnyOrder("SCHEDULED", "SCHEDULED", "ENQUEUED");
      // As before, JobRunr may change it.
      var unusedAgain = storage.save(deleted(storage.getJobById(taken.getId())));
      assertThat(
              Http.delete(
                      system.url()
                          + "/api/v1/jobs/"
                          + moved.application()
                          + "/moved/"
                          + taken.getId())
                  .status())
          .isEqualTo(200);
    }
    assertThat(moved.all())
        .extracting(job -> job.get("dueAt").stringValue())
        .containsOnly(FAR.toString());
    assertThat(moved.pull("moved"))
        .extracting(job -> job.get("params").stringValue())
        .containsExactlyInAnyOrder("order 7", "", "{\"order\":\"8\"}", "[\"a\",12.50]");
  }

  private static JobDetails details(List<JobParameter> parameters) {
    return new JobDetails("com.shop.Orders", null, "close", new ArrayList<>(parameters));
  }

  private static void save(StorageProvider storage, List<JobParameter> parameters) {
    var unused = storage.save(new Job(details(parameters), at(FAR)));
  }

  private static ScheduledState at(Instant due) {
    return new ScheduledState(due);
  }

  private static Job deleted(Job job) {
    return job.delete("not needed");
  }
}
