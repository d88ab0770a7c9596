package io.punctual.dev;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says it at the start without a stack trace. */
final class DevRedisFailureAnalyzer extends AbstractFailureAnalyzer<DevRedisException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, DevRedisException cause) {
    return new FailureAnalysis(cause.description(), cause.action(), cause);
  }
}
