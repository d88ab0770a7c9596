package io.punctual.spring.autoconfigure;

import io.punctual.internal.WorkerSetupException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says which workers do not fit together, instead of a stack trace. */
public final class WorkerSetupFailureAnalyzer
    extends AbstractFailureAnalyzer<WorkerSetupException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, WorkerSetupException cause) {
    return new FailureAnalysis(cause.description(), cause.action(), cause);
  }
}
