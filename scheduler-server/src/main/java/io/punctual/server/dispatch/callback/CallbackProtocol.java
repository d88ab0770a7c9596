package io.punctual.server.dispatch.callback;

import io.punctual.server.registry.WorkerInstance;
import java.util.List;

/** One way to call an instance. */
public interface CallbackProtocol {

  /** Whether one call may carry several jobs. */
  boolean sharesCalls();

  /**
   * Calls the instance and ends every attempt, or none. Blocks until the last of them ended.
   *
   * @param taken run as soon as it is known that the instance took the request
   * @throws NotSentException if nothing ran; no attempt was ended then
   * @throws UntrustedAnswerException if the answer was not signed as it must be; every attempt was
   *     ended
   */
  void call(WorkerInstance instance, List<? extends Attempt> attempts, Runnable taken);
}
