package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.punctual.core.store.instance.RegisteredWorkers;
import io.punctual.server.health.InstanceHealth;
import io.punctual.server.input.Body;
import io.punctual.server.input.JobFields;
import io.punctual.server.probe.Prober;
import io.punctual.server.probe.WorkerRegistration;
import io.punctual.server.probe.WorkerRegistration.Outcome;
import io.punctual.server.probe.WorkerReport;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Instances, and whether they are reached from here. */
@RestController
class WorkersController {

  private static final int MAX_PAGE = 500;

  // All schedulers read what all workers say after each change.
  private static final int MAX_TYPES_TEXT = 8_000;
  private static final String WORKER = "/api/v1/workers/{application}/{instance}";
  private static final Duration MIN_TTL = Duration.ofSeconds(5);
  private static final Duration DEFAULT_TTL = Duration.ofSeconds(30);

  private final Prober prober;
  private final WorkerRegistration registration;

  WorkersController(Prober prober, WorkerRegistration registration) {
    this.prober = prober;
    this.registration = registration;
  }

  /**
   * An instance to register.
   *
   * @param session names this run of the instance; null if nothing does
   * @param protocol batch or single; null for single
   * @param release of its application; null if it does not say
   */
  record Registration(
      @Nullable String url,
      @Nullable List<String> taskTypes,
      @Nullable Integer concurrency,
      @Nullable String protocol,
      @Nullable Duration ttl,
      @Nullable String session,
      @Nullable String release) {

    WorkerMetadata metadata(String path) {
      List<String> types = JobFields.names("taskTypes", JobFields.required("taskTypes", taskTypes));
      if (types.isEmpty() || types.size() > WorkerMetadata.MAX_TASK_TYPES) {
        throw ApiException.invalid(
            "taskTypes", "must be 1 to " + WorkerMetadata.MAX_TASK_TYPES + " names");
      }
      if (String.join(",", types).length() > MAX_TYPES_TEXT) {
        throw ApiException.invalid(
            "taskTypes", "must have at most " + MAX_TYPES_TEXT + " characters together");
      }
      String spoken = protocol == null ? WorkerMetadata.SINGLE : protocol;
      if (!spoken.equals(WorkerMetadata.SINGLE) && !spoken.equals(WorkerMetadata.BATCH)) {
        throw ApiException.invalid("protocol", "must be single or batch");
      }
      int most =
          JobFields.integer(
              "concurrency",
              concurrency,
              WorkerMetadata.DEFAULT_CONCURRENCY,
              1,
              WorkerMetadata.MAX_CONCURRENCY);
      if (release != null && !WorkerMetadata.isRelease(release)) {
        throw ApiException.invalid("release", WorkerMetadata.RELEASE_RULE);
      }
      return new WorkerMetadata(Set.copyOf(types), path, spoken, most, release);
    }
  }

  /**
   * What became of a registration.
   *
   * @param outcome created, changed, renewed or removed
   * @param ttl ms; null if it was removed
   * @param renewAfter ms after which to register again; null if it was removed
   */
  record Registered(
      String application,
      String instance,
      String outcome,
      @Nullable Long ttl,
      @Nullable Long renewAfter) {}

  /** Registers an instance here instead of in a registry, or renews it. */
  @Allowed(value = Role.ADMIN, applications = true)
  @PutMapping(WORKER)
  ResponseEntity<Registered> register(
      @PathVariable String application, @PathVariable String instance, @Body Registration request) {
    String name = JobFields.application(application).toLowerCase(Locale.ROOT);
    URI callback = registration.callback(JobFields.required("url", request.url()));
    WorkerMetadata metadata = request.metadata(callback.getPath());
    Duration ttl =
        JobFields.within(
            "ttl",
            request.ttl() == null ? DEFAULT_TTL : request.ttl(),
            MIN_TTL,
            RegisteredWorkers.LONGEST);
    long ms = Objects.requireNonNull(ttl).toMillis();
    var outcome = registration.put(name, instance, request.session(), callback, metadata, ttl);
    return ResponseEntity.status(outcome == Outcome.CREATED ? HttpStatus.CREATED : HttpStatus.OK)
        .body(new Registered(name, instance, outcome.name().toLowerCase(Locale.ROOT), ms, ms / 3));
  }

  /** Removes an instance that registered here: within a second it gets no more jobs. */
  @Allowed(value = Role.ADMIN, applications = true)
  @DeleteMapping(WORKER)
  Registered remove(
      @PathVariable String application,
      @PathVariable String instance,
      @RequestParam(required = false) @Nullable String session) {
    String name = JobFields.application(application).toLowerCase(Locale.ROOT);
    registration.remove(name, instance, session);
    return new Registered(name, instance, "removed", null, null);
  }

  /**
   * An instance.
   *
   * @param state the worst state that it is in, as a word
   */
  record Worker(@JsonUnwrapped WorkerReport report, String state) {

    static Worker of(WorkerReport report) {
      return new Worker(report, InstanceHealth.state(report).word());
    }
  }

  /** By application and instance; the cursor is the last of the page before. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/api/v1/workers")
  Page<Worker> list(
      @RequestParam(name = "application", required = false) @Nullable String given,
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(required = false) @Nullable String limit) {
    int max = Page.limit(limit, MAX_PAGE);
    String application = JobFields.name("application", Ownership.application(given));
    List<WorkerReport> found =
        prober.workers(application).stream()
            .filter(report -> cursor == null || report.key().compareTo(cursor) > 0)
            .limit(max + 1L)
            .toList();
    return new Page<>(
        found.stream().limit(max).map(Worker::of).toList(),
        found.size() > max ? found.get(max - 1).key() : null);
  }

  /** Calls an instance now, with nothing to run. */
  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/workers:probe")
  Worker probe(@Body Probe probe) {
    return Worker.of(prober.probe(probe.application(), probe.instance()));
  }

  record Probe(String application, String instance) {

    Probe {
      application = JobFields.application(application);
      instance = JobFields.required("instance", instance);
    }
  }
}
