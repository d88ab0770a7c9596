package io.punctual.spring.jdbc;

import io.punctual.internal.AttemptLease;
import java.time.Duration;

/** Grants everything. */
public final class HeldLease implements AttemptLease {

  @Override
  public void extend(Duration timeToRun) {}

  @Override
  public String defer(Duration within) {
    return "handle";
  }
}
