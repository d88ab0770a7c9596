package io.punctual.spring.client.actuate;

import io.punctual.client.doctor.ReachReport;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.submit.SchedulerContact;
import io.punctual.client.submit.SchedulerLocator;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * {@code punctual} in the health: UP where a scheduler answers, UNKNOWN before the first call,
 * WARNING where none answers, this instance is not registered at them, or a scheduler says that it
 * cannot call it. Never DOWN: an instance must not be taken out of service because a scheduler is
 * away, least of all out of the registry, from which it would get no jobs any more.
 */
public final class PunctualHealthIndicator extends AbstractHealthIndicator {

  /** Not as it should be; HTTP status 200, and no part of the status of all. */
  public static final Status WARNING = new Status("WARNING");

  private final SchedulerLocator locator;
  private final Supplier<@Nullable InstanceRegistration> registration;
  private final Supplier<@Nullable ReachReport> reach;

  /**
   * @param registration by which schedulers know this instance; gives null where there is none
   * @param reach what schedulers see of this instance; gives null where none is asked
   */
  public PunctualHealthIndicator(
      SchedulerLocator locator,
      Supplier<@Nullable InstanceRegistration> registration,
      Supplier<@Nullable ReachReport> reach) {
    super("It is not known which schedulers there are");
    this.locator = locator;
    this.registration = registration;
    this.reach = reach;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    List<SchedulerContact> contacts;
    try {
      contacts = locator.contacts();
    } catch (RuntimeException e) {
      builder.status(WARNING).withDetail("error", "the registry is not read: " + e);
      return;
    }
    builder.status(status(contacts)).withDetail("schedulers", contacts.size());
    Instant answer = locator.lastAnswer();
    if (answer != null) {
      builder.withDetail("lastAnswer", answer.toString());
    }
    for (SchedulerContact contact : contacts) {
      if (contact.error() != null) {
        builder.withDetail("error", contact.error());
      }
    }
    InstanceRegistration own = registration.get();
    String notRegistered = own == null ? null : own.error();
    if (own != null && notRegistered != null) {
      builder
          .status(WARNING)
          .withDetail("registration", notRegistered)
          .withDetail("remedy", own.remedy());
    }
    ReachReport report = reach.get();
    ReachReport.Finding found = report == null ? null : report.last();
    if (found != null && found.status().equals("problem")) {
      builder.status(WARNING).withDetail("reach", found.message());
      // The instance must be registered before it can be called.
      if (found.remedy() != null && notRegistered == null) {
        builder.withDetail("remedy", found.remedy());
      }
    }
  }

  private static Status status(List<SchedulerContact> contacts) {
    if (contacts.stream()
        .anyMatch(contact -> contact.answered() != null && contact.failed() == null)) {
      return Status.UP;
    }
    // Those that were never called are as good as any.
    return contacts.stream().anyMatch(contact -> contact.failed() == null) || contacts.isEmpty()
        ? Status.UNKNOWN
        : WARNING;
  }
}
