package io.punctual.spring.client;

import io.punctual.client.submit.NoSchedulerException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says why no scheduler took a call that the start depends on, instead of a stack trace. */
final class NoSchedulerFailureAnalyzer extends AbstractFailureAnalyzer<NoSchedulerException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, NoSchedulerException cause) {
    String reason = cause.reason();
    return new FailureAnalysis(
        "The application calls a Punctual scheduler at its start, and "
            + Character.toLowerCase(reason.charAt(0))
            + reason.substring(1)
            + (cause.mayHaveTakenEffect() ? "" : " Nothing was sent."),
        cause.remedy()
            + "\n\nIn development, ./quickstart in Punctual's repository starts a registry and a"
            + " scheduler. An application that has to start without one catches"
            + " SchedulerUnavailableException, or sends in a transaction with the outbox"
            + " (punctual.outbox.enabled=true).",
        cause);
  }
}
