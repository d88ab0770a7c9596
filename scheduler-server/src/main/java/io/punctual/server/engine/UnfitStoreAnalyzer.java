package io.punctual.server.engine;

import io.punctual.core.UnfitStoreException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows without a stack why the scheduler does not start on this Redis. */
final class UnfitStoreAnalyzer extends AbstractFailureAnalyzer<UnfitStoreException> {

  @Override
  protected FailureAnalysis analyze(Throwable root, UnfitStoreException cause) {
    return new FailureAnalysis(
        String.valueOf(cause.getMessage()),
        "Set Redis up as it says, or choose another punctual.durability.",
        cause);
  }
}
