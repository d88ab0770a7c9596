package io.punctual.server.dispatch.callback;

import io.punctual.server.registry.WorkerInstance;
import java.time.Duration;
import java.time.InstantSource;

/**
 * The state that all calls to workers share.
 *
 * @param scheduler name of this scheduler, which calls carry
 * @param avoid how long an instance is avoided that was not reached
 */
public record CallContext(
    String scheduler,
    WorkerHttpClient client,
    Deadlines deadlines,
    CallbackKeys keys,
    InstantSource clock,
    Duration avoid,
    AnswerMemory memory) {

  /**
   * Makes what signs a call.
   *
   * @param lease how long the call may be run
   */
  CallbackSigner signer(WorkerInstance instance, Duration lease) {
    return new CallbackSigner(keys, instance.application(), clock, lease);
  }
}
