package io.punctual.core.job;

import java.time.Duration;

/**
 * The limits of cancelled jobs that are kept, so that their cancels can be undone. The scripts
 * ({@code lib/kept.lua}) and the documentation have the same figures.
 */
public final class UndoLimits {

  /** For how long a cancelled job is kept, but no longer than its tombstone. */
  public static final Duration TIME = Duration.ofMinutes(10);

  /** How many jobs a bucket keeps that were cancelled one by one: the last ones. */
  public static final int JOBS = 1_000;

  /** How many jobs a bucket keeps that operations on many jobs cancelled: the last ones. */
  public static final int JOBS_OF_OPERATIONS = 100_000;

  /** How many bytes the record of a kept job may have. */
  public static final int BYTES = 65_536;

  private UndoLimits() {}
}
