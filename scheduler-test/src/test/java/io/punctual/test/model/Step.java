package io.punctual.test.model;

import io.punctual.core.store.JobStore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One step of a history: time passes, a record is lost, or a call is made.
 *
 * @param pause ms that pass before the call
 * @param lost id of a job whose record vanishes, or null
 * @param call what is called, or null
 */
record Step(
    String shown, long pause, @Nullable String lost, @Nullable Function<JobStore, Object> call) {

  static Step pause(long millis) {
    return new Step("wait " + millis + " ms", millis, null, null);
  }

  static Step lose(String id) {
    return new Step("lose the record of " + id, 0, id, null);
  }

  static Step call(String shown, Function<JobStore, Object> call) {
    return new Step(shown, 0, null, call);
  }
}
