package io.punctual.server.probe;

import io.punctual.ErrorCode;
import io.punctual.core.store.instance.RegisteredWorkers;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Registers workers here instead of in a registry. Who may register for an application may pull its
 * jobs as well, so a registration tells nothing more.
 */
@Component
public class WorkerRegistration {

  /** Most instances of an application. */
  public static final int MAX_INSTANCES = 1_000;

  private static final Logger log = LoggerFactory.getLogger(WorkerRegistration.class);
  private static final Pattern ID = Pattern.compile("[!-~]{1,200}");

  private final RegisteredSource source;
  private final WorkerDirectory workers;
  private final CallbackTargets targets;

  WorkerRegistration(RegisteredSource source, WorkerDirectory workers, CallbackTargets targets) {
    this.source = source;
    this.workers = workers;
    this.targets = targets;
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

  /**
   * Registers an instance, or renews it.
   *
   * @param ttl after which it is gone unless it is renewed
   * @return whether it is new
   * @throws ApiException 400 if the id is none, or the application has too many
   */
  public boolean put(
      String application, String instance, URI callback, WorkerMetadata metadata, Duration ttl) {
    if (!ID.matcher(instance).matches()) {
      throw ApiException.invalid(
          "instance", "must be 1 to 200 printable ASCII characters without spaces");
    }
    RegisteredWorkers.Put put =
        source.put(application, instance, callback, metadata, ttl, MAX_INSTANCES);
    if (put == RegisteredWorkers.Put.FULL) {
      throw ApiException.invalid(
          "instance",
          "is new, and "
              + application
              + " has "
              + MAX_INSTANCES
              + " instances, which is the most: those that are gone make room when their ttl is"
              + " over");
    }
    if (put == RegisteredWorkers.Put.CREATED) {
      workers.refresh(application);
      log.info("Instance {} of {} has registered at {}", instance, application, callback);
    }
    return put == RegisteredWorkers.Put.CREATED;
  }

  /**
   * Removes an instance: it gets no more jobs.
   *
   * @throws ApiException 404
   */
  public void remove(String application, String instance) {
    if (!ID.matcher(instance).matches() || !source.remove(application, instance)) {
      throw ApiException.of(
          ErrorCode.NOT_FOUND,
          "no instance of that id of "
              + application
              + " is registered here; it never was, has left, or its ttl is over");
    }
    workers.refresh(application);
    log.info("Instance {} of {} has left", instance, application);
  }
}
