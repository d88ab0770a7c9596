package io.punctual.plugin;

import io.punctual.worker.WorkerSetupException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what does not fit together, instead of a stack trace. */
final class PluginFailureAnalyzer extends AbstractFailureAnalyzer<WorkerSetupException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, WorkerSetupException cause) {
    return new FailureAnalysis(cause.description(), cause.action(), cause);
  }
}
