package io.punctual.server.probe;

import io.punctual.server.dispatch.InstanceAttempts;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One instance of an application: what the registry says of it, and what this scheduler knows of
 * it; as the API answers it.
 *
 * @param application in lower case
 * @param instance its id
 * @param source where it is registered
 * @param callback where it is called
 * @param taskTypes in order
 * @param protocol batch or single
 * @param release of its application; null if it does not say
 * @param concurrency jobs that it takes at once
 * @param inFlight jobs of this scheduler that it has
 * @param attempts those of this scheduler that ended there in the last 15 minutes
 * @param avoidedUntil until when it is left alone by this scheduler; null if it is not
 * @param lastCallAt when it was sent jobs last; null if never
 * @param lastCallError why it did not take them, or that it did not answer in time; null if it did
 * @param probe what the last probe showed; null before there was one
 */
public record WorkerReport(
    String application,
    String instance,
    String source,
    String callback,
    List<String> taskTypes,
    String protocol,
    @Nullable String release,
    int concurrency,
    int inFlight,
    InstanceAttempts attempts,
    @Nullable Instant avoidedUntil,
    @Nullable Instant lastCallAt,
    @Nullable String lastCallError,
    @Nullable ProbeResult probe) {

  /** Its place in lists. */
  public String key() {
    return application + "/" + instance;
  }
}
