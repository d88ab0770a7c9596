package io.punctual.client.registration;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the address of this machine under which schedulers most likely reach it. */
final class LocalAddress {

  private LocalAddress() {}

  /**
   * Returns the address from which this machine calls one of these, as the host of a URL: one that
   * other machines may know, if there is one; null if there is a route to none of them. It is the
   * same whatever their order.
   */
  static @Nullable String towards(List<URI> schedulers) {
    Stream<InetAddress> local =
        schedulers.stream().sorted().map(LocalAddress::towards).filter(Objects::nonNull);
    return local
        .min(Comparator.comparing(InetAddress::isLoopbackAddress))
        .map(LocalAddress::text)
        .orElse(null);
  }

  private static @Nullable InetAddress towards(URI scheduler) {
    if (scheduler.getHost() == null) {
      return null;
    }
    // Sends nothing: connecting a datagram socket only has the system choose the route.
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(
          new InetSocketAddress(InetAddress.getByName(scheduler.getHost()), port(scheduler)));
      InetAddress local = socket.getLocalAddress();
      return local.isAnyLocalAddress() || local.isLinkLocalAddress() ? null : local;
    } catch (IOException e) {
      return null;
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
