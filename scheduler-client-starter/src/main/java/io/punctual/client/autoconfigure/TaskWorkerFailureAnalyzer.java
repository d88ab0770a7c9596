package io.punctual.client.autoconfigure;

import io.punctual.client.TaskWorkerException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says which workers do not fit together, instead of a stack trace. */
final class TaskWorkerFailureAnalyzer extends AbstractFailureAnalyzer<TaskWorkerException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, TaskWorkerException cause) {
    return new FailureAnalysis(cause.description(), cause.action(), cause);
  }
}
