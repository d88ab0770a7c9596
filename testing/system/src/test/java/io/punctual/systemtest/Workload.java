package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/** One application of one test: what was submitted for it, what its worker did, what was broken. */
final class Workload {

  // Jobs that were sent during a fault are due first.
  private static final Duration CATCHING_UP = Duration.ofMinutes(3);

  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final String application;
  private final Path record;
  private final ExecutionLog log;
  private final Submitter submitter;
  private final List<Fault> faults = Collections.synchronizedList(new ArrayList<>());

  private Workload(String application, Path record) {
    this.application = application;
    this.record = record;
    this.log = new ExecutionLog(record);
    this.submitter = new Submitter(application);
  }

  static Workload of(String test) {
    String application = test + "-" + NUMBERS.incrementAndGet();
    Path record = SharedSystem.DIRECTORY.resolve(application + ".record");
    return new Workload(application, record);
  }

  String application() {
    return application;
  }

  Path record() {
    return record;
  }

  Submitter submitter() {
    return submitter;
  }

  JavaProcess worker(JavaProcess registry, String... options) {
    return SharedSystem.PROGRAMS.worker(registry, application, record, options);
  }

  /** Breaks something, and remembers that. */
  void fault(String what, Runnable action) {
    faults.add(Fault.of(what, action));
  }

  List<Execution> executions() throws IOException {
    return log.executions();
  }

  /** Ids that begin so and that a worker has begun. */
  Set<String> begun(String prefix) throws IOException {
    return executions().stream()
        .map(Execution::taskId)
        .filter(id -> id.startsWith(prefix))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Ids that a worker has begun and not ended. */
  Set<String> underWay() throws IOException {
    return executions().stream()
        .filter(execution -> execution.end() == null)
        .map(Execution::taskId)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** How late the latest first run began, ms, of all jobs but these. */
  long latestBegin(Set<String> except) throws IOException {
    Set<String> seen = new TreeSet<>(except);
    long latest = 0;
    for (Execution execution : executions()) {
      if (seen.add(execution.taskId())) {
        long late = execution.begin() / 1_000 - submitter.dueOf(execution.taskId());
        latest = Math.max(latest, late);
      }
    }
    return latest;
  }

  /**
   * Waits until a worker has begun so many of the jobs that the load sends from now on. Jobs that
   * it sent before do not count: they would hide that no new one gets through.
   */
  void awaitLaterBegun(int count) {
    Set<String> before = submitter.ids();
    Waiting.until(
        count + " jobs sent from now on were begun",
        CATCHING_UP,
        () -> begun("load-").stream().filter(id -> !before.contains(id)).count() >= count);
  }

  void awaitDrained(JavaProcess scheduler) {
    Waiting.until(application + " is drained", () -> submitter.drained(scheduler));
  }

  /** Ids that were begun more than once so far. */
  Set<String> repeated() throws IOException {
    return Accounting.of(submitter.history(), executions(), faults).repeated();
  }

  /** Adds up, says the sums, and fails on anything that is not sound. */
  Accounting account() throws IOException {
    List<Execution> executions = executions();
    Accounting accounting = Accounting.of(submitter.history(), executions, faults);
    System.out.println(application + ": " + accounting);
    assertThat(accounting.sound())
        .as("%s: %s, %s%n%s", application, accounting, faults, accounting.evidence(executions))
        .isTrue();
    return accounting;
  }
}
