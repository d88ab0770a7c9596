package io.punctual.server.dispatch.callback;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.security.web.util.matcher.IpAddressMatcher;

/**
 * Where a callback may go. Who gets into the registry must not make the scheduler call what only it
 * can reach: the machine's own services, and the addresses at which clouds tell secrets.
 */
public final class CallbackTargets {

  // Of Alibaba, Oracle, Azure, AWS (instances, pods), Google and Scaleway; those of the others are
  // link-local.
  private static final Set<String> METADATA =
      Set.of(
          "100.100.100.200",
          "192.0.0.192",
          "168.63.129.16",
          "fd00:ec2:0:0:0:0:0:254",
          "fd00:ec2:0:0:0:0:0:23",
          "fd20:ce:0:0:0:0:0:254",
          "fd00:42:0:0:0:0:0:42");

  // A network's own translation (RFC 8215): which IPv4 address is behind it, only the network
  // knows.
  private static final IpAddressMatcher LOCAL_NAT64 = new IpAddressMatcher("64:ff9b:1::/48");

  private static final byte[] NAT64 = {0, 0x64, (byte) 0xff, (byte) 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};

  private final List<IpAddressMatcher> allowed;
  private final boolean loopback;

  /**
   * @param networks in CIDR notation; if there are any, nothing else is called
   * @param loopback whether this machine may be called where no networks are given
   * @throws IllegalArgumentException naming what is no network
   */
  public CallbackTargets(List<String> networks, boolean loopback) {
    this.allowed = networks.stream().map(CallbackTargets::matcher).toList();
    this.loopback = loopback;
  }

  private static IpAddressMatcher matcher(String network) {
    try {
      return new IpAddressMatcher(network);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(
          "punctual.dispatch.allowed-networks: '" + network + "' is no network such as 10.0.0.0/8");
    }
  }

  /**
   * Resolves a host, for a connection to one of its addresses.
   *
   * @throws AddressNotAllowedException if one of them must not be called
   * @throws UnknownHostException if it has none
   */
  InetAddress[] resolve(String host) throws UnknownHostException {
    InetAddress[] addresses = InetAddress.getAllByName(host);
    for (InetAddress address : addresses) {
      if (!mayBeCalled(address)) {
        throw new AddressNotAllowedException(
            host
                + " is "
                + address.getHostAddress()
                + ", which is not called (punctual.dispatch.allowed-networks)");
      }
    }
    return addresses;
  }

  /**
   * Checks a host before anything is sent to it. One that has no address yet passes: each call
   * looks again.
   *
   * @throws IllegalArgumentException if one of its addresses must not be called
   */
  public void require(String host) {
    try {
      var unused = resolve(host);
    } catch (AddressNotAllowedException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    } catch (UnknownHostException e) {
      // Its name may come later than the worker.
    }
  }

  private boolean mayBeCalled(InetAddress address) throws UnknownHostException {
    String text = withoutScope(address.getHostAddress());
    if (isNeverCalled(address, text)) {
      return false;
    }
    InetAddress behind = behind(address.getAddress());
    if (behind != null
        && (behind.isLoopbackAddress() || isNeverCalled(behind, behind.getHostAddress()))) {
      return false;
    }
    return allowed.isEmpty()
        ? loopback || !address.isLoopbackAddress()
        : allowed.stream().anyMatch(network -> network.matches(text));
  }

  private static boolean isNeverCalled(InetAddress address, String text) {
    return address.isLinkLocalAddress()
        || address.isAnyLocalAddress()
        || address.isMulticastAddress()
        || METADATA.contains(text)
        || LOCAL_NAT64.matches(text);
  }

  private static String withoutScope(String address) {
    int scope = address.indexOf('%');
    return scope < 0 ? address : address.substring(0, scope);
  }

  /** The IPv4 address that a gateway makes of an IPv6 one (RFC 6052, RFC 3056); null if of none. */
  private static @Nullable InetAddress behind(byte[] address) throws UnknownHostException {
    if (address.length != 16) {
      return null;
    } else if (Arrays.equals(address, 0, 12, NAT64, 0, 12)) {
      return InetAddress.getByAddress(Arrays.copyOfRange(address, 12, 16));
    }
    return address[0] == 0x20 && address[1] == 0x02
        ? InetAddress.getByAddress(Arrays.copyOfRange(address, 2, 6))
        : null;
  }
}
