package io.punctual.server.registry;

import io.punctual.core.job.ErrorNote;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.util.Objects;

/**
 * One instance of an application that runs jobs.
 *
 * @param id unique in its application
 * @param application in lower case
 * @param callback where to POST
 * @param registered what its registry has of it
 * @param metadata what counts: what it said itself, as far as it did, else what its registry has
 * @param source the word for where it is registered
 * @param asked whether its registry leaves it to the instance to say what it runs
 */
public record WorkerInstance(
    String id,
    String application,
    URI callback,
    WorkerMetadata registered,
    WorkerMetadata metadata,
    String source,
    boolean asked) {

  /** One that has not said anything yet. */
  public WorkerInstance(
      String id, String application, URI callback, WorkerMetadata registered, String source) {
    this(id, application, callback, registered, registered, source, false);
  }

  /** What went wrong there. */
  public ErrorNote error(String message) {
    return new ErrorNote(id, Objects.requireNonNullElse(metadata.release(), ""), message);
  }

  /** The same, with what counts instead of what its registry has. */
  WorkerInstance with(WorkerMetadata says) {
    return new WorkerInstance(id, application, callback, registered, says, source, asked);
  }

  /** Whether both are the same but for what they said of themselves. */
  public boolean isRegisteredAs(WorkerInstance other) {
    return with(registered).equals(other.with(other.registered));
  }
}
