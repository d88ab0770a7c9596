package io.punctual.client.submit;

import java.net.InetAddress;
import java.net.URI;
import java.util.List;

/** Finds the addresses of schedulers. */
@FunctionalInterface
public interface SchedulerSource {

  /**
   * Returns the base addresses that are known now.
   *
   * @throws RuntimeException whatever the client of a registry throws
   */
  List<URI> schedulers();

  /**
   * Returns the source of addresses from a configuration; a slash at an end counts for nothing.
   *
   * @param addresses each {@code http}, {@code https}, or {@code dns://host:port}: {@code http} at
   *     each address that the DNS knows of the host, asked again after 30 s (the JVM's {@code
   *     networkaddress.cache.ttl})
   * @throws IllegalArgumentException for {@code dns} with anything but a host and a port
   */
  static SchedulerSource of(List<URI> addresses) {
    return new ConfiguredSchedulers(addresses, InetAddress::getAllByName);
  }

  /** Says why no scheduler is known, in whole sentences; may take some seconds. */
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
