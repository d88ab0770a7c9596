package io.punctual.client.registration;

import io.punctual.internal.ConfiguredUrl;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the IP address of this machine at which schedulers most likely reach it. */
final class LocalAddress {

  /** What the route to one scheduler shows: an address, or why there is none. */
  private record Route(@Nullable InetAddress local, String whyNone) {}

  private LocalAddress() {}

  /**
   * Returns the local IP address on the route to a scheduler, as the host of a URL. An address that
   * is not loopback is preferred. The order of the schedulers does not matter.
   *
   * @param schedulers their base URLs
   * @return null if there is none; {@link #whyNone} tells why
   */
  static @Nullable String towards(List<URI> schedulers) {
    Stream<InetAddress> local =
        schedulers.stream()
            .sorted()
            .map(LocalAddress::route)
            .map(Route::local)
            .filter(Objects::nonNull);
    return local
        .min(Comparator.comparing(InetAddress::isLoopbackAddress))
        .map(LocalAddress::text)
        .orElse(null);
  }

  /** Returns why no scheduler gives an address: each scheduler, with what is wrong. */
  static String whyNone(List<URI> schedulers) {
    return schedulers.stream()
        .sorted()
        .map(scheduler -> ConfiguredUrl.masked(scheduler) + " (" + route(scheduler).whyNone() + ")")
        .collect(Collectors.joining(", "));
  }

  private static Route route(URI scheduler) {
    if (scheduler.getHost() == null) {
      return new Route(null, "no valid host");
    }
    // Sends nothing: connecting a datagram socket only has the system choose the route.
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(
          new InetSocketAddress(InetAddress.getByName(scheduler.getHost()), port(scheduler)));
      InetAddress local = socket.getLocalAddress();
      if (local.isAnyLocalAddress()) {
        return new Route(null, "no route");
      } else if (local.isLinkLocalAddress()) {
        return new Route(
            null, "this machine's address %s is link-local".formatted(local.getHostAddress()));
      }
      return new Route(local, "");
    } catch (UnknownHostException e) {
      return new Route(null, "unknown host");
    } catch (IOException e) {
      return new Route(null, "no route: " + e.getMessage());
    }
  }

  private static int port(URI scheduler) {
    return scheduler.getPort() > 0 ? scheduler.getPort() : 443;
  }

  private static String text(InetAddress address) {
    String text = address.getHostAddress();
    // Without the name of an interface of this machine, which means nothing elsewhere.
    return address instanceof Inet6Address ? "[" + text.replaceFirst("%.*", "") + "]" : text;
  }
}
