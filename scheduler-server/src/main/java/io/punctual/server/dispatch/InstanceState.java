package io.punctual.server.dispatch;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The state of an instance, as this scheduler knows it from its own calls.
 *
 * @param inFlight jobs of this scheduler that the instance has
 * @param avoidedUntil until when it is left alone; null if it is not
 * @param lastCall how the last callback ended; null if there was none
 * @param attempts those that ended there in the last 15 minutes
 */
public record InstanceState(
    int inFlight,
    @Nullable Instant avoidedUntil,
    @Nullable LastCall lastCall,
    InstanceAttempts attempts) {

  static final InstanceState UNKNOWN = new InstanceState(0, null, null, InstanceAttempts.NONE);

  /**
   * The end of a callback.
   *
   * @param reached whether the instance took it, and no job of it has been late since
   * @param reason why not; null if so
   */
  public record LastCall(Instant at, boolean reached, @Nullable String reason) {}
}
