package io.punctual.systemtest.linearizability;

import java.util.List;
import java.util.Map;

/** One scheduler, as clients call it. Whatever a call throws: nobody knows whether it happened. */
interface JobCalls {

  /** The call was refused, and nothing was changed. */
  final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    RefusedException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * Submits.
   *
   * @param tag of the job
   */
  Answer submit(String taskId, String tag, Action.Submit submit) throws Exception;

  Answer cancel(String taskId, Action.Cancel cancel) throws Exception;

  /** Answers what became of those that had the tag; of the others {@code NOT_LISTED}. */
  Map<String, Answer> cancelByTag(String tag, List<String> taskIds) throws Exception;

  Answer reschedule(String taskId, Action.Reschedule change) throws Exception;

  Answer revise(String taskId, Action.Revise change) throws Exception;

  Answer restore(String taskId) throws Exception;

  Answer requeue(String taskId) throws Exception;

  Answer find(String taskId) throws Exception;
}
