package io.punctual.server.dispatch;

import io.punctual.core.store.Settlement;
import io.punctual.server.registry.WorkerInstance;

/** Is told of the attempts of instances. Its methods must be quick, and throw nothing. */
public interface AttemptListener {

  /** Hears nothing. */
  AttemptListener NONE =
      new AttemptListener() {
        @Override
        public void ended(WorkerInstance instance, Settlement.Op how) {}

        @Override
        public void gone(String application, String instance) {}
      };

  /**
   * An attempt ended.
   *
   * @param how DONE, FAILED, REJECTED or UNKNOWN
   */
  void ended(WorkerInstance instance, Settlement.Op how);

  /** An instance has left, and no job is with it. */
  void gone(String application, String instance);
}
