package io.punctual.benchmark.imports;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerBuilder;
import com.github.kagkarlsson.scheduler.serializer.JavaSerializer;
import com.github.kagkarlsson.scheduler.serializer.Serializer;
import com.github.kagkarlsson.scheduler.task.SchedulableInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.RecurringTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.FixedDelay;
import io.punctual.DelayedTask;
import io.punctual.systemtest.Http;
import io.punctual.systemtest.StoredJobs;
import io.punctual.systemtest.Waiting;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** Jobs move out of the table of a real db-scheduler. */
@Tag("full")
class DbSchedulerImportIT {

  private static final int JOBS = 20_000;
  private static final int DUE_SOON = 1_000;
  private static final int LATE = 500;

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

  private static OldDatabase database(OldDatabase.Kind kind) throws SQLException {
    OldDatabase database = OldDatabase.create(kind);
    boolean postgres = kind == OldDatabase.Kind.POSTGRESQL;
    String time = postgres ? "timestamp with time zone" : "timestamp(6)";
    String name = postgres ? "text" : "varchar(100)";
    // As its documentation has them.
    database.run(
        """
        create table scheduled_tasks (
          task_name %1$s not null, task_instance %1$s not null, task_data %3$s,
          execution_time %2$s %4$s, picked boolean not null,
          picked_by varchar(50), last_success %2$s %5$s,
          last_failure %2$s %5$s, consecutive_failures int,
          last_heartbeat %2$s %5$s, version bigint not null, priority smallint,
          primary key (task_name, task_instance))"""
            .formatted(
                name,
                time,
                postgres ? "bytea" : "blob",
                postgres ? "not null" : "not null default current_timestamp(6)",
                postgres ? "" : "null"),
        "create index execution_time_idx on scheduled_tasks (execution_time)",
        "create index last_heartbeat_idx on scheduled_tasks (last_heartbeat)");
    return database;
  }

  /** Both sides run, and the move is ended by force on the way: each job runs on one side, once. */
  @ParameterizedTest
  @EnumSource
  void oneShotsMoveWhileBothSidesRun(OldDatabase.Kind kind) throws Exception {
    Queue<String> ran = new ConcurrentLinkedQueue<>();
    OneTimeTask<String> task =
        Tasks.oneTime("order.close", String.class)
            .execute((instance, context) -> ran.add(instance.getId() + " " + instance.getData()));
    Map<String, Instant> due = new ConcurrentHashMap<>();
    try (OldDatabase old = database(kind)) {
      SchedulerBuilder builder =
          Scheduler.create(old.source(), List.of(task))
              .threads(10)
              .pollingInterval(Duration.ofMillis(100));
      if (kind == OldDatabase.Kind.POSTGRESQL) {
        // The other one of its two ways to take jobs.
        builder.pollUsingLockAndFetch(1.0, 4.0);
      }
      Scheduler scheduler = builder.build();
      Instant begin = Instant.now();
      fill(scheduler, task, "later-", JOBS, begin.plusSeconds(3_600), 10, due);
      fill(scheduler, task, "soon-", DUE_SOON, Instant.now().plusSeconds(2), 15, due);
      scheduler.start();
      try {
        Process broken = system.start(old, moved, "db-scheduler", "order.close");
        Waiting.until("5,000 jobs are moved", () -> moved.waiting("moved") >= 5_000);
        broken.destroyForcibly().waitFor();
        // The old side still gets some.
        fill(scheduler, task, "late-", LATE, begin.plusSeconds(7_200), 10, due);

        String said = system.run(old, moved, "db-scheduler", "order.close");

        assertThat(said).contains("jobs were moved.").doesNotContain("refused");
        Waiting.until(
            "the old side has run the others",
            () -> old.number("select count(*) from scheduled_tasks") == 0);
      } finally {
        scheduler.stop();
      }
    }
    List<JsonNode> jobs = moved.all();
    assertThat(jobs).hasSizeGreaterThanOrEqualTo(JOBS + LATE);
    for (JsonNode job : jobs) {
      assertThat(Instant.parse(job.get("dueAt").stringValue()))
          .isEqualTo(due.get(job.get("taskId").stringValue()));
    }
    assertThat(ran).as("the old side had a part in it").isNotEmpty();
    List<String> all = new ArrayList<>(ran);
    moved
        .pull("moved")
        .forEach(
            job ->
                all.add(job.get("taskId").stringValue() + " " + job.get("params").stringValue()));
    assertThat(all)
        .containsExactlyInAnyOrderElementsOf(
            due.keySet().stream().map(id -> id + " payload of " + id).toList());
  }

  private static void fill(
      Scheduler scheduler,
      OneTimeTask<String> task,
      String prefix,
      int count,
      Instant first,
      int distance,
      Map<String, Instant> due) {
    List<SchedulableInstance<?>> batch = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String id = prefix + i;
      Instant at = Instant.ofEpochMilli(first.plusMillis((long) i * distance).toEpochMilli());
      due.put(id, at);
      batch.add(SchedulableInstance.of(task.instance(id, "payload of " + id), at));
      if (batch.size() == 1_000 || i == count - 1) {
        scheduler.scheduleBatch(batch);
        batch.clear();
      }
    }
  }

  /** A payload that only the application can read. */
  record Order(int id) implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  /** The worker of docs/import-sql.md. */
  private static final class Worker {
    private final List<Integer> closed = new ArrayList<>();
    private final Serializer serializer = new JavaSerializer();

    @DelayedTask("order.close")
    void close(String params) {
      Order order = serializer.deserialize(Order.class, Base64.getDecoder().decode(params));
      closed.add(order.id());
    }
  }

  @ParameterizedTest
  @EnumSource
  void serializedObjectsStayUntilTheWorkerReadsThem(OldDatabase.Kind kind) throws Exception {
    OneTimeTask<Order> task =
        Tasks.oneTime("order.close", Order.class).execute((instance, context) -> {});
    try (OldDatabase old = database(kind)) {
      Scheduler scheduler = Scheduler.create(old.source(), List.of(task)).build();
      Instant at = Instant.parse("2033-05-18T03:33:20Z");
      scheduler.schedule(task.instance("7", new Order(7)), at);
      String rows = "select concat(task_instance, picked, version) from scheduled_tasks";
      List<String> before = old.texts(rows);

      assertThat(system.run(old, moved, "db-scheduler", "order.close"))
          .contains("The job '7' is an object that Java serialized", "add --base64")
          .contains("0 jobs were moved. 1 were refused and are where they were.");
      assertThat(old.texts(rows)).isEqualTo(before);

      assertThat(system.run(old, moved, "db-scheduler", "order.close", "--base64", "--dry-run"))
          .contains("job 7, due at 2033-05-18T03:33:20Z")
          .contains("1 would be moved, and 0 be refused. This run changed nothing.");
      assertThat(old.texts(rows)).isEqualTo(before);
      assertThat(moved.all()).isEmpty();

      assertThat(system.run(old, moved, "db-scheduler", "order.close", "--base64"))
          .contains("1 jobs were moved.");
      assertThat(old.texts(rows)).isEmpty();
    }
    Worker worker = new Worker();
    worker.close(moved.pull("moved").getFirst().get("params").stringValue());
    assertThat(worker.closed).containsExactly(7);
  }

  /** Writes JSON by hand, as serializers of JSON do. */
  private static final class JsonText implements Serializer {
    @Override
    public byte[] serialize(Object data) {
      return String.valueOf(data).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public <T> T deserialize(Class<T> type, byte[] bytes) {
      return type.cast(new String(bytes, StandardCharsets.UTF_8));
    }
  }

  @Test
  void jsonIsTakenAsItIsAndRecurringTasksStay() throws Exception {
    OneTimeTask<String> task =
        Tasks.oneTime("order.close", String.class).execute((instance, context) -> {});
    RecurringTask<Void> recurring =
        Tasks.recurring("report", FixedDelay.ofHours(1)).execute((instance, context) -> {});
    try (OldDatabase old = database(OldDatabase.Kind.POSTGRESQL)) {
      Scheduler scheduler =
          Scheduler.create(old.source(), List.of(task))
              .startTasks(recurring)
              .serializer(new JsonText())
              .build();
      Instant at = Instant.parse("2033-05-18T03:33:20.123Z");
      scheduler.schedule(task.instance("object", "{\"order\":7}"), at);
      scheduler.schedule(task.instance("text", "\"order 7\""), at);
      scheduler.schedule(task.instance("nothing"), at);
      scheduler.schedule(task.instance("Order No. 7/a", "{}"), at);
      scheduler.schedule(
          task.instance("trip", "{\"schedule\":{\"type\":\"bus\"},\"data\":[7]}"), at);
      scheduler.schedule(
          task.instance("again", "{\"schedule\":{\"type\":\"daily\"},\"data\":null}"), at);
      scheduler.start();
      scheduler.stop();

      assertThat(system.run(old, moved, "db-scheduler", "order.close"))
          .contains("The job 'again' is a recurring task, whose schedule is in the application")
          .contains("5 jobs were moved. 1 were refused and are where they were.");
      assertThat(system.run(old, moved, "db-scheduler", "report"))
          .contains("The job 'recurring' is a recurring task, whose schedule is in the application")
          .contains("0 jobs were moved. 1 were refused and are where they were.");
      assertThat(old.texts("select task_instance from scheduled_tasks where not picked"))
          .containsExactlyInAnyOrder("again", "recurring");
    }
    assertThat(moved.all())
        .extracting(job -> job.get("dueAt").stringValue())
        .containsOnly("2033-05-18T03:33:20.123Z");
    assertThat(moved.pull("moved"))
        .extracting(
            job ->
                job.get("taskId").stringValue().replaceFirst("(db-scheduler-)[0-9a-f]{32}", "$1")
                    + " "
                    + job.get("params").stringValue())
        .containsExactlyInAnyOrder(
            "object {\"order\":7}",
            "text order 7",
            "nothing ",
            "db-scheduler- {}",
            "trip {\"schedule\":{\"type\":\"bus\"},\"data\":[7]}");
  }

  /** An earlier run may have submitted what it took: this one does not give it back by itself. */
  @Test
  void whatAnEarlierRunTookStaysTakenUntilItIsClear() throws Exception {
    OneTimeTask<String> task =
        Tasks.oneTime("order.close", String.class).execute((instance, context) -> {});
    String picked = "select picked_by from scheduled_tasks";
    try (OldDatabase old = database(OldDatabase.Kind.POSTGRESQL)) {
      Scheduler scheduler =
          Scheduler.create(old.source(), List.of(task)).serializer(new JavaSerializer()).build();
      Instant at = Instant.parse("2033-05-18T03:33:20Z");
      scheduler.schedule(task.instance("7", "one"), at);
      assertThat(
              system.run(
                  old,
                  moved,
                  "db-scheduler",
                  "order.close",
                  "--base64",
                  "--scheduler=http://127.0.0.1:1"))
          .contains("did not answer", "0 jobs were moved. No job is lost");
      assertThat(old.texts(picked)).containsExactly("punctual-import");
      // As if the earlier run had submitted it: without --base64, it has other params.
      assertThat(
              Http.post(
                      system.url() + "/api/v1/jobs",
                      "{\"application\":\"%s\",\"taskType\":\"moved\",\"taskId\":\"7\",\"delay\":\"1h\"}"
                          .formatted(moved.application()))
                  .status())
          .isEqualTo(201);

      assertThat(system.run(old, moved, "db-scheduler", "order.close"))
          .containsOnlyOnce("The job '7' was refused: HTTP 409")
          .contains("An earlier run took it, and Punctual may have it, so it stays taken")
          .contains("0 jobs were moved. 1 stay taken, since Punctual may have them.");
      assertThat(old.texts(picked)).containsExactly("punctual-import");

      assertThat(
              Http.delete(system.url() + "/api/v1/jobs/" + moved.application() + "/moved/7")
                  .status())
          .isEqualTo(200);
      assertThat(system.run(old, moved, "db-scheduler", "order.close"))
          .contains("1 jobs were moved.");
      assertThat(old.texts(picked)).isEmpty();
    }
  }

  /** Only a job that this move has made is cancelled when the old side changes its row. */
  @Test
  void anApplicationsOwnJobOfTheSameIdStays() throws Exception {
    OneTimeTask<Void> task = Tasks.oneTime("order.close").execute((instance, context) -> {});
    String jobs = system.url() + "/api/v1/jobs";
    try (OldDatabase old = database(OldDatabase.Kind.POSTGRESQL);
        SchedulerProxy proxy =
            new SchedulerProxy(
                system.url(),
                "POST /api/v1/jobs/batch",
                () -> old.run("update scheduled_tasks set picked = false, picked_by = null"))) {
      Scheduler scheduler = Scheduler.create(old.source(), List.of(task)).build();
      Instant at = Instant.parse("2033-05-18T03:33:20Z");
      scheduler.schedule(task.instance("own"), at);
      scheduler.schedule(task.instance("moved"), at);
      assertThat(
              Http.post(
                      jobs,
                      "{\"application\":\"%s\",\"taskType\":\"moved\",\"taskId\":\"own\",\"dueAt\":\"%s\"}"
                          .formatted(moved.application(), at))
                  .status())
          .isEqualTo(201);

      assertThat(
              system.run(old, moved, "db-scheduler", "order.close", "--scheduler=" + proxy.url()))
          .contains("The job 'moved' was changed or removed at the old side")
          .contains("It was cancelled in Punctual")
          .contains("Its job in Punctual, own, was there before this run and stays")
          .contains("0 jobs were moved. 2 were changed or removed at the old side.");
    }
    assertThat(moved.all())
        .extracting(job -> job.get("taskId").stringValue())
        .containsExactly("own");
  }

  @Test
  void aTableOfAnotherNameAndWhatIsWrong() throws Exception {
    try (OldDatabase old = database(OldDatabase.Kind.MARIADB)) {
      old.run("rename table scheduled_tasks to my_tasks");
      String said = system.run(old, moved, "db-scheduler", "order.close", "--table=my_tasks");
      assertThat(said)
          .contains("No row of my_tasks has the task name order.close. Found: none.")
          .contains("After a complete move, none is left.")
          .doesNotContain("jobs were moved", "Run the same command");
      old.run(
          "insert into my_tasks (task_name, task_instance, execution_time, picked, version)"
              + " values ('order.close', '7', '2033-05-18 03:33:20', false, 1)");
      Process misspelt =
          system.start(old, moved, "db-scheduler", "order.cloes", "--table=my_tasks");
      assertThat(new String(misspelt.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .contains("No row of my_tasks has the task name order.cloes. Found: order.close.");
      assertThat(misspelt.waitFor()).isEqualTo(2);
      assertThat(system.run(old, moved, "db-scheduler", "order.close", "--table=my_tasks"))
          .contains("1 jobs were moved.");
      assertThat(system.run(old, moved, "db-scheduler", "order.close"))
          .contains("The database did not do what it was asked", "scheduled_tasks", "0 jobs were");
      assertThat(system.run(old, moved, "db-scheduler", "order.close", "--table=a;b"))
          .contains("--table must be 1 to 128 characters of [A-Za-z0-9_.$], but was 'a;b'.");
      assertThat(system.run(old, moved, "db-scheduler", "order.close", "--zone=Asia/Shanghai"))
          .contains("--zone means nothing for db-scheduler.");
    }
  }
}
