package io.punctual.wire;

/** The metadata that a scheduler writes to the registry. */
public final class SchedulerMetadata {

  /**
   * Registry metadata key: the installation that the scheduler belongs to. Schedulers with equal
   * values share their jobs. The part before the last {@code @} is their key prefix in Redis.
   * Consul allows no dots.
   */
  public static final String INSTALLATION = "punctual-installation";

  private SchedulerMetadata() {}
}
