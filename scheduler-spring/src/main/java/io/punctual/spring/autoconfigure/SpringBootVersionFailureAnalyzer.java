package io.punctual.spring.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do on an old Spring Boot, in place of a stack trace. */
final class SpringBootVersionFailureAnalyzer
    extends AbstractFailureAnalyzer<SpringBootVersionException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, SpringBootVersionException cause) {
    return new FailureAnalysis(
        cause.getMessage(),
        "Upgrade the application to Spring Boot 4. Until then, remove Punctual's starter, and submit"
            + " and run jobs over HTTP: see \"Callbacks\" in docs/api.md of Punctual's repository.",
        cause);
  }
}
