package io.punctual.server.security;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** The scheduler would be open to others than those who should get in: it does not start. */
final class InsecureSetupException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String remedy;

  InsecureSetupException(String message, String remedy) {
    super(message + " " + remedy);
    this.remedy = remedy;
  }

  /** Shows it without a stack. */
  static final class Analyzer extends AbstractFailureAnalyzer<InsecureSetupException> {

    @Override
    protected FailureAnalysis analyze(Throwable root, InsecureSetupException cause) {
      return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.remedy, cause);
    }
  }
}
