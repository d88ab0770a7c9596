package io.punctual.client.submit;

import java.net.URI;
import java.util.List;

/** Where the addresses of schedulers come from. */
@FunctionalInterface
public interface SchedulerSource {

  /**
   * Returns the base addresses that are known now.
   *
   * @throws RuntimeException whatever the client of a registry throws
   */
  List<URI> schedulers();

  /** Returns the source of addresses that do not change; a slash at an end counts for nothing. */
  static SchedulerSource of(List<URI> addresses) {
    List<URI> schedulers =
        addresses.stream()
            .map(address -> URI.create(address.toString().replaceFirst("/$", "")))
            .toList();
    return () -> schedulers;
  }

  /** Says why no scheduler is known, in whole sentences; may take a second. */
  default String whyNone() {
    return "punctual.url names none.";
  }

  /**
   * Says what to do, in whole sentences.
   *
   * @param known whether addresses are known, at which no scheduler accepts connections
   */
  default String remedy(boolean known) {
    return known
        ? "Start the scheduler, or correct punctual.url."
        : "Set punctual.url to the address of a scheduler.";
  }
}
