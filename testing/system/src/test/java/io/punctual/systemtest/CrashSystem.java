package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.DIRECTORY;
import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** A scheduler that meets its end, one that survives, and a worker; the first behind a link. */
final class CrashSystem implements AutoCloseable {

  // Other tests' schedulers are in the same registry, and have other jobs.
  private static final String SCHEDULERS = "crash-scheduler";

  private static final String[] OPTIONS = {
    "--spring.application.name=" + SCHEDULERS,
    "--punctual.lease=2s",
    // What is held back on its way is not given up on meanwhile: that a late answer comes is the
    // greater danger.
    "--spring.data.redis.timeout=20s",
  };

  private final Workload workload = Workload.of("crash");
  private final FaultyLink link = new FaultyLink().to(REDIS.port());
  private final JavaProcess victim;
  private final JavaProcess survivor;
  private final JavaProcess worker;
  private final Scripts scripts = new Scripts(REDIS.port());
  private final Puller puller = new Puller(workload.application());
  private final Map<CrashCase, Submitter> submitters = new EnumMap<>(CrashCase.class);
  private final Set<String> given = new TreeSet<>();
  private final List<Fault> faults = new ArrayList<>();

  CrashSystem() {
    String application = workload.application();
    victim = PROGRAMS.scheduler(REGISTRY, link.port(), application, OPTIONS).start();
    survivor = PROGRAMS.scheduler(REGISTRY, REDIS.port(), application, OPTIONS).start();
    worker =
        workload
            .worker(
                REGISTRY,
                "--punctual.service-id=" + SCHEDULERS,
                "--worker.extra=" + String.join(",", CrashCase.types(true)))
            .start();
    for (CrashCase each : CrashCase.values()) {
      submitters.put(each, new Submitter(application, each.type()));
    }
    worker.awaitReady();
    awaitWhole();
  }

  /** Waits until both schedulers are there and know the worker. */
  void awaitWhole() {
    for (JavaProcess scheduler : List.of(victim, survivor)) {
      scheduler.awaitReady();
      String workers = scheduler.url() + "/api/v1/workers?application=" + application();
      Waiting.until(
          "the worker is known at " + scheduler.url(),
          () -> !Http.get(workers).json().get("items").isEmpty());
    }
  }

  JavaProcess victim() {
    return victim;
  }

  JavaProcess survivor() {
    return survivor;
  }

  FaultyLink link() {
    return link;
  }

  Scripts scripts() {
    return scripts;
  }

  Puller puller() {
    return puller;
  }

  String application() {
    return workload.application();
  }

  Path directory() {
    return DIRECTORY;
  }

  int redis() {
    return REDIS.port();
  }

  Submitter submitter(CrashCase each) {
    return Objects.requireNonNull(submitters.get(each));
  }

  /** This job need not be done: it was rejected for good. */
  void gaveUp(String id) {
    given.add(id);
  }

  void add(Fault fault) {
    faults.add(fault);
  }

  /** Adds up all rounds so far. */
  Accounting account() throws IOException {
    Submitter all = new Submitter(application());
    submitters.values().forEach(all::adopt);
    History seen = all.history();
    Set<String> settled = new TreeSet<>(seen.settled());
    settled.addAll(given);
    List<Execution> executions = new ArrayList<>(workload.executions());
    executions.addAll(puller.executions());
    return Accounting.of(
        new History(seen.attempted(), seen.acknowledged(), settled, seen.timesToRun()),
        executions,
        faults);
  }

  @Override
  public void close() {
    worker.close();
    victim.close();
    survivor.close();
    link.close();
  }
}
