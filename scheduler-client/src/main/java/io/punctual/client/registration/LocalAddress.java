package io.punctual.client.registration;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the address of this machine under which schedulers most likely reach it. */
final class LocalAddress {

  private LocalAddress() {}

  /**
   * Returns the address from which this machine calls the first of these that it has a route to, as
   * the host of a URL; null if there is none.
   */
  static @Nullable String towards(List<URI> schedulers) {
    for (URI scheduler : schedulers) {
      String host = scheduler.getHost();
      if (host == null) {
        continue;
      }
      // Sends nothing: connecting a datagram socket only has the system choose the route.
      try (DatagramSocket socket = new DatagramSocket()) {
        socket.connect(new InetSocketAddress(InetAddress.getByName(host), port(scheduler)));
        return text(socket.getLocalAddress());
      } catch (IOException e) {
        // The next one may be known.
      }
    }
    return null;
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
