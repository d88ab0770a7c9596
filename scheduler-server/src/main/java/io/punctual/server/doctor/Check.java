package io.punctual.server.doctor;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One thing that was looked at.
 *
 * @param name what was looked at
 * @param application whose it is; null for what all have in common
 * @param seen for people
 * @param cure what to do; null where nothing is to be done
 */
public record Check(
    Name name, @Nullable String application, Status status, String seen, @Nullable String cure) {

  /** The checks that there are; docs/doctor.md says what each looks at. */
  public enum Name {
    REDIS,
    DURABILITY,
    LOSSES,
    CLOCK,
    REGISTRY,
    REGISTRATION,
    INSTALLATION,
    WORKERS,
    WORKER,
    UNSERVED,
    PARKED,
    CIRCUITS,
    DAMAGED,
    QUEUES,
    QUOTA;

    /** As the API writes it. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
