package io.punctual.server.probe;

import io.punctual.ErrorCode;
import io.punctual.core.store.instance.RegisteredWorkers;
import io.punctual.core.store.instance.RegisteredWorkers.Bound;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.dispatch.callback.CallbackTargets;
import io.punctual.server.problem.ApiException;
import io.punctual.server.registry.CallbackAddress;
import io.punctual.server.registry.RegisteredSource;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Registers workers here instead of in a registry. Who may register for an application may pull its
 * jobs as well, so a registration tells nothing more.
 */
@Component
public class WorkerRegistration {

  // All schedulers read all instances after each change, at most twice a second.
  private static final Bound OF_APPLICATION = new Bound(1_000, 1_000_000);
  private static final Bound OF_ALL = new Bound(10_000, 10_000_000);
  private static final Duration RETRY = RegisteredWorkers.LONGEST;

  private static final Logger log = LoggerFactory.getLogger(WorkerRegistration.class);
  private static final Pattern ID = Pattern.compile("[!-~]{1,200}");
  private static final Pattern SESSION = Pattern.compile("[!-~]{1,64}");

  private final RegisteredSource source;
  private final WorkerDirectory workers;
  private final CallbackTargets targets;
  private final AuditLog audit;

  WorkerRegistration(
      RegisteredSource source, WorkerDirectory workers, CallbackTargets targets, AuditLog audit) {
    this.source = source;
    this.workers = workers;
    this.targets = targets;
    this.audit = audit;
  }

  /**
   * Makes the address of callbacks of what a worker says.
   *
   * @throws ApiException 400 if it is none, or must not be called
   */
  public URI callback(String url) {
    URI given;
    try {
      given = new URI(url);
    } catch (URISyntaxException e) {
      throw wrong("must be a URL such as http://10.0.0.7:9000/callback");
    }
    boolean secure = "https".equalsIgnoreCase(given.getScheme());
    if (!secure && !"http".equalsIgnoreCase(given.getScheme())) {
      throw wrong("must begin with http:// or https://");
    } else if (given.getRawUserInfo() != null
        || given.getRawQuery() != null
        || given.getRawFragment() != null) {
      throw wrong("must have no user, query or fragment: callbacks are signed instead");
    } else if (workers.requiresTls() && !secure) {
      throw wrong("must begin with https:// (punctual.dispatch.require-tls)");
    }
    String path = String.valueOf(given.getRawPath());
    if (!WorkerMetadata.isPlainPath(path)) {
      throw wrong("must have a plain path such as /callback");
    }
    int port = given.getPort() >= 0 ? given.getPort() : secure ? 443 : 80;
    try {
      URI callback = CallbackAddress.of(secure, given.getHost(), port, path);
      targets.require(callback.getHost());
      return callback;
    } catch (IllegalArgumentException e) {
      throw wrong("cannot be called: " + e.getMessage());
    }
  }

  private static ApiException wrong(String what) {
    return ApiException.invalid("url", what);
  }

  /** What became of an instance. */
  public enum Outcome {
    CREATED,
    CHANGED,
    RENEWED
  }

  /**
   * Registers an instance, or renews it. All schedulers know it within a second.
   *
   * @param session names this run of the instance; null if nothing does
   * @param ttl after which it is gone unless it is renewed
   * @throws ApiException 400 if the id or the session is none, or the application has too many; 409
   *     if the session has been removed; 429 if all applications have too many
   */
  public Outcome put(
      String application,
      String instance,
      @Nullable String session,
      URI callback,
      WorkerMetadata metadata,
      Duration ttl) {
    if (!ID.matcher(instance).matches()) {
      throw ApiException.invalid(
          "instance", "must be 1 to 200 printable ASCII characters without spaces");
    }
    Outcome outcome =
        switch (source.put(
            application,
            instance,
            session(session),
            callback,
            metadata,
            ttl,
            OF_APPLICATION,
            OF_ALL)) {
          case CREATED -> Outcome.CREATED;
          case CHANGED -> Outcome.CHANGED;
          case RENEWED -> Outcome.RENEWED;
          case ENDED ->
              throw ApiException.of(
                  ErrorCode.WRONG_STATE,
                  "session",
                  "of "
                      + instance
                      + " has been removed, and this call came after that; an instance that starts again must choose another session");
          case FULL ->
              throw ApiException.invalid(
                  "instance",
                  "does not fit: %s may have %d instances, which together say %d characters; those that are gone make room when their ttl is over, removed sessions after 30 s"
                      .formatted(
                          application, OF_APPLICATION.workers(), OF_APPLICATION.characters()));
          case ALL_FULL ->
              throw ApiException.tooMany(
                  "all applications together may have %d registered instances, which say %d characters, and this one does not fit; those that are gone make room when their ttl is over, removed sessions after 30 s"
                      .formatted(OF_ALL.workers(), OF_ALL.characters()),
                  RETRY);
        };
    if (outcome != Outcome.RENEWED) {
      boolean created = outcome == Outcome.CREATED;
      log.info(
          "Instance {} of {} has {} at {}",
          instance,
          application,
          created ? "registered" : "changed what it says, and is",
          callback);
      audit.did(
          "worker",
          () -> application + " " + instance,
          created ? null : "there",
          callback.toString());
    }
    return outcome;
  }

  private static String session(@Nullable String given) {
    if (given != null && !SESSION.matcher(given).matches()) {
      throw ApiException.invalid(
          "session", "must be 1 to 64 printable ASCII characters without spaces");
    }
    return given == null ? "" : given;
  }

  /**
   * Removes an instance: within a second it gets no more jobs.
   *
   * @param session as it was registered; null for all that are there
   * @throws ApiException 400 if the session is none; 404
   */
  public void remove(String application, String instance, @Nullable String session) {
    String run = session(session);
    if (!ID.matcher(instance).matches()
        || !source.remove(application, instance, run, OF_APPLICATION, OF_ALL)) {
      throw ApiException.of(
          ErrorCode.NOT_FOUND,
          "no instance of that id%s of %s is registered here; it never was, was removed, or its ttl is over"
              .formatted(run.isEmpty() ? "" : " and session", application));
    }
    log.info("Instance {} of {} has left", instance, application);
    audit.did("worker", () -> application + " " + instance, "there", "removed");
  }
}
