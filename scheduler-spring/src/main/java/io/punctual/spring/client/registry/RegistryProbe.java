package io.punctual.spring.client.registry;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Finds out why a registry does not answer: connects to it, and sends a request over HTTP. */
final class RegistryProbe {

  private static final int PATIENCE_MS = 1_000;
  private static final String WITHIN = " within " + PATIENCE_MS / 1000 + " s)";

  private RegistryProbe() {}

  /**
   * Connects to the first of the addresses: URLs, or host and port. Sends a request to an {@code
   * http} URL. May take two seconds.
   *
   * @return what was seen, as the end of a sentence; empty where it tells nothing
   */
  static String look(@Nullable String addresses) {
    if (addresses == null) {
      return "";
    }
    String silent = " (no connection" + WITHIN;
    try (Socket socket = new Socket()) {
      String first = addresses.split(",", -1)[0].strip();
      // ZooKeeper's addresses have no scheme.
      URI uri = URI.create(first.contains("://") ? first : "zookeeper://" + first);
      int port = uri.getPort() >= 0 ? uri.getPort() : usual(uri.getScheme());
      socket.connect(new InetSocketAddress(uri.getHost(), port), PATIENCE_MS);
      if (uri.getScheme().equals("http")) {
        silent = " (it accepts connections and answers nothing" + WITHIN;
        socket.setSoTimeout(PATIENCE_MS);
        String path = uri.getRawPath();
        String request =
            "HEAD %s HTTP/1.0\r\n\r\n".formatted(path == null || path.isEmpty() ? "/" : path);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        var unused = socket.getInputStream().read();
      }
      return " (its port accepts connections; the log of its client says more)";
    } catch (UnknownHostException e) {
      return " (unknown host)";
    } catch (SocketTimeoutException e) {
      return silent;
    } catch (IOException e) {
      String why = Objects.requireNonNullElse(e.getMessage(), e.getClass().getSimpleName());
      // Some Java 21 says "Connection refused (connect failed)".
      return " (" + why.replaceFirst(" \\(.*", "").toLowerCase(java.util.Locale.ROOT) + ")";
    } catch (IllegalArgumentException e) {
      return " (this is no address)";
    }
  }

  private static int usual(String scheme) {
    return switch (scheme) {
      case "https" -> 443;
      case "http" -> 80;
      default -> 2181;
    };
  }
}
