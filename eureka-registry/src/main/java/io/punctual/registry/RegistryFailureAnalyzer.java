package io.punctual.registry;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says why the registry does not start, instead of a stack trace. */
final class RegistryFailureAnalyzer extends AbstractFailureAnalyzer<RegistrySetupException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, RegistrySetupException cause) {
    return new FailureAnalysis(cause.description(), cause.action(), cause);
  }
}
