package io.punctual.server.registry;

import io.punctual.wire.WorkerMetadata;
import java.net.URI;

/**
 * One instance of an application that runs jobs.
 *
 * @param id unique in its application
 * @param application in lower case
 * @param callback where to POST
 * @param registered what its registry has of it
 * @param metadata what counts: what it said itself, as far as it did, else what its registry has
 * @param source the word for where it is registered
 */
public record WorkerInstance(
    String id,
    String application,
    URI callback,
    WorkerMetadata registered,
    WorkerMetadata metadata,
    String source) {

  /** One that has not said anything yet. */
  public WorkerInstance(
      String id, String application, URI callback, WorkerMetadata registered, String source) {
    this(id, application, callback, registered, registered, source);
  }
}
