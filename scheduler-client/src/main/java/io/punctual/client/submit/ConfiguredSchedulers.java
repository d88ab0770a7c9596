package io.punctual.client.submit;

import io.punctual.internal.ConfiguredUrl;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Addresses from the configuration. {@code dns://host:port} stands for {@code http} at each address
 * of the host, for the present: the JVM asks the DNS again after 30 s, and while it has none, the
 * last addresses count. Other addresses are called by name, since a proxy may tell by it who is
 * meant, and a certificate has it.
 */
final class ConfiguredSchedulers implements SchedulerSource {

  private static final String NAME = "dns";

  private final List<URI> configured;
  private final Dns dns;
  private final Map<URI, InetAddress[]> last = new ConcurrentHashMap<>();

  /** Knows the addresses of a host. */
  @FunctionalInterface
  interface Dns {
    InetAddress[] addresses(String host) throws UnknownHostException;
  }

  /**
   * @throws IllegalArgumentException for {@code dns} with anything but a host and a port
   */
  ConfiguredSchedulers(List<URI> addresses, Dns dns) {
    this.configured =
        addresses.stream()
            .map(address -> URI.create(address.toString().replaceFirst("/$", "")))
            .toList();
    this.dns = dns;
    for (URI address : configured) {
      if (isName(address)
          && (address.getHost() == null
              || address.getPort() < 1
              || address.getPort() > 65_535
              || !address.toString().substring(NAME.length()).equals("://" + address.getAuthority())
              || address.getRawUserInfo() != null)) {
        throw new IllegalArgumentException(
            "punctual.url with dns must have a host and a port and nothing else, such as"
                + " dns://punctual-scheduler:8080, but was '"
                + ConfiguredUrl.masked(address)
                + "'.");
      }
    }
  }

  private static boolean isName(URI address) {
    return NAME.equalsIgnoreCase(address.getScheme());
  }

  @Override
  public List<URI> schedulers() {
    return configured.stream().flatMap(this::each).distinct().toList();
  }

  private Stream<URI> each(URI address) {
    if (!isName(address)) {
      return Stream.of(address);
    }
    InetAddress[] found;
    try {
      found = dns.addresses(address.getHost());
      last.put(address, found);
    } catch (UnknownHostException e) {
      // It may be the DNS that is away.
      found = last.get(address);
      if (found == null) {
        return Stream.empty();
      }
    }
    // A host with IPv4 and IPv6 would be there twice.
    boolean six = found[0] instanceof Inet6Address;
    return Arrays.stream(found)
        .filter(one -> one instanceof Inet6Address == six)
        .map(one -> URI.create("http://" + text(one) + ":" + address.getPort()));
  }

  private static String text(InetAddress address) {
    String text = address.getHostAddress().replaceFirst("%.*", "");
    return address instanceof Inet6Address ? "[" + text + "]" : text;
  }

  @Override
  public String whyNone() {
    return configured.isEmpty()
        ? SchedulerSource.super.whyNone()
        : configured.stream()
            .map(URI::getHost)
            .collect(
                Collectors.joining(
                    ", ", "No address of ", " is known: the DNS has none, or does not answer."));
  }

  @Override
  public String remedy(boolean known) {
    return known || configured.isEmpty()
        ? SchedulerSource.super.remedy(known)
        : "Correct punctual.url, or start the schedulers that it names.";
  }
}
