package io.punctual.server.dispatch;

import io.punctual.server.registry.WorkerInstance;
import java.util.List;

/** One way of calling an instance. */
interface Callback {

  /**
   * Calls the instance and ends every attempt, or none: blocks until the last of them ended.
   *
   * @param taken run when the instance has taken the request, as soon as that is known
   * @throws NotSentException if nothing ran; no attempt was ended then
   * @throws UntrustedAnswerException if the answer was not signed as it should be; every attempt
   *     was ended
   */
  void call(WorkerInstance instance, List<Attempt> attempts, Runnable taken);
}
