package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Resp;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import tools.jackson.databind.JsonNode;

/**
 * Jobs that are changed through two schedulers, and what must be found of each. {@code
 * -Dpunctual.changes.seed} repeats what is drawn.
 */
final class ChangedJobs {

  private static final long HOUR = Duration.ofHours(1).toMillis();
  private static final int CALLERS = 16;
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int THREES = 60;

  /** What is done to a job that waits, failed or not, or that was cancelled. */
  enum Step {
    MOVE_LATER,
    MOVE_EARLIER,
    REVISE,
    REPLACE,
    RUN_NOW,
    BACK_OFF,
    CANCEL,
    CANCEL_BY_TAG,
    CANCEL_AND_SUBMIT,
    DONE_AND_SUBMIT
  }

  /** A job as it is to be found; the due time in hours from the start of the test. */
  record Found(String state, String params, long hours, int failed) {
    private static final Found CANCELLED = new Found("cancelled", "", 0, 0);
    private static final Found NONE = new Found("none", "", 0, 0);
  }

  private final Workload load;
  private final String application;
  private final List<JavaProcess> schedulers;
  private final long begun = System.currentTimeMillis();
  private final long seed = Long.getLong("punctual.changes.seed", System.nanoTime());
  private final Random random = new Random(seed);

  /**
   * @param schedulers two
   */
  ChangedJobs(Workload load, List<JavaProcess> schedulers) {
    this.load = load;
    this.application = load.application();
    this.schedulers = List.copyOf(schedulers);
  }

  /** The steps of a test with two schedulers. */
  interface Use {
    void of(ChangedJobs changes) throws Exception;
  }

  /**
   * Starts two schedulers and a worker for the time of a use.
   *
   * @param store options of the schedulers: where Redis is
   */
  static void onTwoSchedulers(Workload load, String[] store, Use use) throws Exception {
    try (JavaProcess one = scheduler(load, store);
        JavaProcess two = scheduler(load, store);
        JavaProcess worker = load.worker(REGISTRY)) {
      List.of(one, two, worker).forEach(JavaProcess::start);
      List.of(one, two, worker).forEach(JavaProcess::awaitReady);
      use.of(new ChangedJobs(load, List.of(one, two)));
    }
  }

  private static JavaProcess scheduler(Workload load, String[] store) {
    return PROGRAMS.scheduler(REGISTRY, 1, load.application(), options(store));
  }

  /** Options of a scheduler by which each change is confirmed. */
  static String[] options(String... more) {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--punctual.durability=replicated:1",
                // A change waits for half of it.
                "--spring.data.redis.timeout=1s",
                // All jobs fail here, so that they wait for their next attempt.
                "--punctual.dispatch.circuit.failures=0"));
    options.addAll(List.of(more));
    return options.toArray(String[]::new);
  }

  /** A job, what is to be found of it, and how it is changed. */
  final class Job {

    private final String id;
    private final JavaProcess one;
    private final JavaProcess other;
    private List<Step> steps = List.of();
    private Found expected = Found.CANCELLED;
    private int version;

    Job(String id, int first) {
      this.id = id;
      this.one = schedulers.get(first);
      this.other = schedulers.get(1 - first);
    }

    @Override
    public String toString() {
      return id + " " + steps;
    }

    private String address(JavaProcess scheduler) {
      return scheduler.url() + "/api/v1/jobs/" + application + "/job/" + id;
    }

    /** The job as it is stored. */
    Found found(JavaProcess scheduler) throws IOException {
      Http.Answer answer = Http.get(address(scheduler));
      if (answer.status() != 200 && answer.status() != 404) {
        throw new IOException(id + ": " + answer);
      }
      JsonNode job = answer.json();
      String state = job.path("state").asString("none");
      if (!state.equals("delayed")) {
        return new Found(state, "", 0, 0);
      }
      return new Found(
          state,
          job.get("params").stringValue(),
          Math.round((job.get("delayTime").longValue() - begun) / (double) HOUR),
          job.get("attempts").get("failed").intValue());
    }

    private boolean waits() {
      return expected.state().equals("delayed");
    }

    private String content(String what, long hours) {
      String params = Execution.content(id, ++version) + " " + what;
      expected = new Found("delayed", params, hours, 0);
      return """
      {"application":"%s","taskType":"job","taskId":"%s","delayTime":%d,"params":"%s",\
      "retry":"1h;attempts=100","tags":["of:%s"]}\
      """
          .formatted(application, id, begun + hours * HOUR, params, id);
    }

    Http.Answer submit(JavaProcess scheduler, long hours) throws IOException {
      return Http.post(scheduler.url() + "/api/v1/jobs", content("fail 99", hours));
    }

    /** Submits it until that is confirmed; Redis has nothing of it before. */
    void submitNew(JavaProcess scheduler, long hours) {
      String content = content("fail 99", hours);
      AtomicReference<Http.Answer> answer = new AtomicReference<>();
      AtomicInteger calls = new AtomicInteger();
      Waiting.until(
          id + " is confirmed",
          () -> {
            calls.incrementAndGet();
            answer.set(Http.post(scheduler.url() + "/api/v1/jobs", content));
            return !unconfirmed(answer.get());
          });
      // An unconfirmed submit may have stored the job.
      assertThat(answer.get().status())
          .as("%s: %s", id, answer.get())
          .isIn(calls.get() == 1 ? List.of(201) : List.of(200, 201));
    }

    private Http.Answer replace(JavaProcess scheduler, String what, long hours) throws IOException {
      return Http.post(scheduler.url() + "/api/v1/jobs?onConflict=replace", content(what, hours));
    }

    private Http.Answer move(JavaProcess scheduler, long hours) throws IOException {
      if (waits()) {
        expected = new Found("delayed", expected.params(), hours, expected.failed());
      }
      return Http.patch(address(scheduler), "{\"delayTime\":%d}".formatted(begun + hours * HOUR));
    }

    private Http.Answer revise(JavaProcess scheduler) throws IOException {
      String params = Execution.content(id, ++version) + " fail 99";
      if (waits()) {
        expected = new Found("delayed", params, expected.hours(), expected.failed());
      }
      return Http.patch(address(scheduler), "{\"params\":\"" + params + "\"}");
    }

    /** It fails, and waits for an hour. */
    private Http.Answer fail(Http.Answer answer) {
      if (waits() && !unconfirmed(answer)) {
        Found next = new Found("delayed", expected.params(), 1, expected.failed() + 1);
        expected = next;
        Waiting.until(id + " has failed", () -> next.equals(found(one)));
      }
      return answer;
    }

    private Http.Answer cancel(JavaProcess scheduler) throws IOException {
      expected = Found.CANCELLED;
      return Http.delete(address(scheduler));
    }

    private Http.Answer cancelByTag(JavaProcess scheduler) throws IOException {
      expected = Found.CANCELLED;
      return Http.post(
          scheduler.url() + "/api/v1/jobs:cancel",
          "{\"application\":\"%s\",\"tag\":\"of:%s\"}".formatted(application, id));
    }

    private Http.Answer finishAndSubmit(JavaProcess first, JavaProcess second) throws IOException {
      acknowledged(replace(first, "record", 0));
      Waiting.until(id + " is done", () -> found(first).state().equals("finished"));
      return replace(second, "fail 99", 3);
    }

    /** Makes the change through the one scheduler; where there are two calls, then the other. */
    Http.Answer change(Step step, JavaProcess scheduler, JavaProcess then) throws IOException {
      return switch (step) {
        case MOVE_LATER -> move(scheduler, 9);
        case MOVE_EARLIER -> move(scheduler, 2);
        case REVISE -> revise(scheduler);
        case REPLACE -> replace(scheduler, "fail 99", 4);
        case RUN_NOW -> fail(Http.post(address(scheduler) + "/run", ""));
        case BACK_OFF -> fail(Http.patch(address(scheduler), "{\"delay\":0}"));
        case CANCEL -> cancel(scheduler);
        case CANCEL_BY_TAG -> cancelByTag(scheduler);
        case CANCEL_AND_SUBMIT -> {
          acknowledged(cancel(scheduler));
          yield submit(then, 6);
        }
        case DONE_AND_SUBMIT -> finishAndSubmit(scheduler, then);
      };
    }

    /** Submits it and makes the changes in turns through both schedulers. */
    Job make(List<Step> changes) throws IOException {
      steps = changes;
      acknowledged(submit(other, 5));
      for (int i = 0; i < changes.size(); i++) {
        make(changes.get(i), i % 2 == 0 ? one : other, i % 2 == 0 ? other : one);
      }
      return this;
    }

    private void make(Step step, JavaProcess scheduler, JavaProcess then) throws IOException {
      boolean there = waits();
      Http.Answer answer = change(step, scheduler, then);
      if (there || unconfirmed(answer) || answer.status() / 100 == 2) {
        acknowledged(answer);
      } else {
        assertThat(answer.status()).as("%s %s: %s", id, steps, answer).isIn(404, 409);
      }
    }

    /** Makes one more change, which Redis is to forget. */
    void makeForgotten(Step step) throws IOException {
      Found before = expected;
      try {
        make(step, other, one);
      } catch (UnclearException e) {
        // Redis forgets it either way.
      }
      expected = before;
    }

    /** Redis is to have nothing of it. */
    void expectNone() {
      expected = Found.NONE;
    }
  }

  /** A scheduler said that it does not know whether the change was made, or is safe. */
  private static final class UnclearException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnclearException(Http.Answer answer) {
      super(answer.toString());
    }
  }

  private static void acknowledged(Http.Answer answer) {
    if (unconfirmed(answer)) {
      throw new UnclearException(answer);
    }
    assertThat(answer.status()).as("%s", answer).isBetween(200, 202);
  }

  /** Makes a job all of whose changes were acknowledged; after one that was not, another job. */
  Job make(String id, int first, List<Step> steps) throws IOException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    for (int attempt = 1; ; attempt++) {
      try {
        return new Job(id + "-" + first + "-" + attempt, first).make(steps);
      } catch (UnclearException e) {
        // A connection to Redis that broke before is found out when it is used next, and a replica
        // that stood still confirms later changes.
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
      }
    }
  }

  private static <T> List<T> all(List<Callable<T>> tasks) throws Exception {
    try (ExecutorService callers = Executors.newFixedThreadPool(CALLERS)) {
      List<T> results = new ArrayList<>();
      for (Future<T> future : callers.invokeAll(tasks)) {
        results.add(future.get());
      }
      return results;
    }
  }

  /** Every change alone, every pair, and some threes, with the one or the other scheduler first. */
  List<Job> changed(String prefix) throws Exception {
    List<List<Step>> changes = new ArrayList<>();
    changes.add(List.of());
    Step[] steps = Step.values();
    for (Step step : steps) {
      changes.add(List.of(step));
      for (Step next : steps) {
        changes.add(List.of(step, next));
      }
    }
    for (int i = 0; i < THREES; i++) {
      changes.add(random.ints(3, 0, steps.length).mapToObj(step -> steps[step]).toList());
    }
    List<Callable<Job>> jobs = new ArrayList<>();
    for (List<Step> each : changes) {
      int number = jobs.size();
      int first = random.nextInt(2);
      jobs.add(() -> make(prefix + number, first, each));
    }
    return all(jobs);
  }

  /** Makes one more change to each of some jobs, all of which Redis is to forget. */
  void changeForgotten(List<Job> jobs) throws Exception {
    List<Callable<Job>> changes = new ArrayList<>();
    Step[] steps = Step.values();
    for (Job job : jobs) {
      Step step = steps[random.nextInt(steps.length)];
      changes.add(
          () -> {
            job.makeForgotten(step);
            return job;
          });
    }
    all(changes);
  }

  /** Submits all of them again. */
  void submitAgain(List<Job> jobs) throws Exception {
    List<Callable<Job>> submits = new ArrayList<>();
    for (Job job : jobs) {
      submits.add(
          () -> {
            job.submitNew(job.one, 7);
            return job;
          });
    }
    all(submits);
  }

  /** How often schedulers have looked at the state of Redis. */
  long looks(int port) throws IOException {
    return Long.parseLong(Resp.call(port, "HGET", application + ":epoch", "sequence"));
  }

  /**
   * Makes each change while no replica confirms.
   *
   * @param noReplicaListens sees to that, once the jobs are there
   * @return what may be found of each job: the state before, or after
   */
  Map<Job, Set<Found>> unconfirmed(String prefix, Check noReplicaListens) throws Exception {
    Set<Step> steps = EnumSet.allOf(Step.class);
    // These need a run, whose end may be lost as well.
    steps.removeAll(EnumSet.of(Step.RUN_NOW, Step.BACK_OFF, Step.DONE_AND_SUBMIT));
    steps.remove(Step.CANCEL_AND_SUBMIT);
    Map<Step, Job> jobs = new TreeMap<>();
    for (Step step : steps) {
      jobs.put(step, make(prefix + step, jobs.size() % 2, List.of()));
    }
    noReplicaListens.run();
    Map<Job, Set<Found>> possible = new HashMap<>();
    for (Map.Entry<Step, Job> each : jobs.entrySet()) {
      Job job = each.getValue();
      Found was = job.expected;
      Http.Answer answer = job.change(each.getKey(), job.one, job.other);
      assertThat(unconfirmed(answer)).as("%s: %s", job.id, answer).isTrue();
      possible.put(job, Set.of(was, job.expected));
    }
    Job late = new Job(prefix + "submit", 0);
    assertThat(late.submit(late.one, 5).status()).isEqualTo(503);
    possible.put(late, Set.of(Found.NONE, late.expected));
    return possible;
  }

  /** What may fail. */
  interface Check {
    void run() throws Exception;
  }

  /**
   * Each job must be as its last change wants it.
   *
   * @param unconfirmed what may be found of others
   */
  void judge(Object trouble, List<Job> jobs, Map<Job, Set<Found>> unconfirmed) {
    Map<String, Found> expected = new TreeMap<>();
    Map<String, Found> found = new TreeMap<>();
    for (Job job : jobs) {
      Found now = read(job);
      if (!now.equals(job.expected)) {
        expected.put(job.toString(), job.expected);
        found.put(job.toString(), now);
      }
    }
    System.out.printf(
        "%s: %d jobs, %d unconfirmed, %d other than they were acknowledged"
            + " (-Dpunctual.changes.seed=%d)%n",
        trouble, jobs.size(), unconfirmed.size(), found.size(), seed);
    assertThat(found).isEqualTo(expected);
    for (Map.Entry<Job, Set<Found>> each : unconfirmed.entrySet()) {
      Job job = each.getKey();
      assertThat(read(job)).as(job.id).isIn(each.getValue());
    }
  }

  private static Found read(Job job) {
    AtomicReference<Found> found = new AtomicReference<>();
    Waiting.until(
        job.id + " is read",
        () -> {
          found.set(job.found(job.one));
          return true;
        });
    return found.get();
  }

  /** Whether no answer says that the change is safe. */
  private static boolean unconfirmed(Http.Answer answer) {
    return answer.status() == 503
        || answer.json().path("outcomes").path("unconfirmed").asInt(0) == 1;
  }

  /** Waits until schedulers have done all that they do when Redis is back: these jobs have run. */
  void awaitDeliveries(String prefix) {
    for (JavaProcess scheduler : schedulers) {
      String id = prefix + scheduler.port();
      long due = System.currentTimeMillis() + 5_000;
      Waiting.until(
          scheduler + " takes jobs",
          () -> load.submitter().submitOne(scheduler, id, "record", due));
    }
    Waiting.until("deliveries go on", () -> load.begun(prefix).size() == schedulers.size());
  }
}
