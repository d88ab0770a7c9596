package io.punctual.plugin;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what does not fit together, instead of a stack trace. */
final class PluginFailureAnalyzer extends AbstractFailureAnalyzer<PluginStartException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, PluginStartException cause) {
    return new FailureAnalysis(cause.description(), cause.action(), cause);
  }
}
