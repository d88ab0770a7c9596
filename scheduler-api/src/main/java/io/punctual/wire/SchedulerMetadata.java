package io.punctual.wire;

/** What a scheduler says about itself in the registry. */
public final class SchedulerMetadata {

  /**
   * Registry metadata key: the installation that the scheduler belongs to. Schedulers with equal
   * values share their jobs. The part before the last {@code @} is their key prefix in Redis.
   */
  public static final String INSTALLATION = "punctual.installation";

  private SchedulerMetadata() {}
}
