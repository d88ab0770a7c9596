package io.punctual.systemtest;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The wall clock of this machine, which all its processes share. */
public final class EpochMicros {

  private EpochMicros() {}

  /** Now, in microseconds. */
  public static long now() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }
}
