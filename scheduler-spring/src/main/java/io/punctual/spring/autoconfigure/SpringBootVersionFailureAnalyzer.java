package io.punctual.spring.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do on another Spring Boot, in place of a stack trace. */
final class SpringBootVersionFailureAnalyzer
    extends AbstractFailureAnalyzer<SpringBootVersionException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, SpringBootVersionException cause) {
    return new FailureAnalysis(cause.getMessage(), SpringBootLine.REMEDY, cause);
  }
}
