package io.punctual.server.registry;

import io.punctual.server.text.Printable;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Makes the URL of callbacks of what the registry says. The instance chooses the host: nothing of
 * it may become a port, a path, a query or a name to log in with.
 */
public final class CallbackAddress {

  private static final int MAX_HOST = 253;
  private static final Pattern LABEL =
      Pattern.compile("[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?");
  private static final Pattern IPV4 =
      Pattern.compile("(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}");
  private static final Pattern NUMBER = Pattern.compile("\\d+|0x[0-9a-f]*");
  // Roughly: java.net.URI looks at it more closely. No zones, which are of one machine only.
  private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f:.]{2,45}");

  private CallbackAddress() {}

  /**
   * Puts the parts together.
   *
   * @param path a plain one
   * @throws IllegalArgumentException naming the part that makes no sense
   */
  public static URI of(boolean secure, @Nullable String host, int port, String path) {
    String scheme = secure ? "https" : "http";
    String plain = host(host);
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("its port must be 1 to 65535, not " + port);
    }
    URI built;
    try {
      built = new URI(scheme, null, plain, port, path, null, null);
    } catch (URISyntaxException e) {
      // Its message has the text as it came.
      throw noHost(plain);
    }
    if (!scheme.equals(built.getScheme())
        || !plain.equals(built.getHost())
        || port != built.getPort()
        || !path.equals(built.getRawPath())
        || built.getRawUserInfo() != null
        || built.getRawQuery() != null
        || built.getRawFragment() != null) {
      throw noHost(plain);
    }
    return built;
  }

  /** As it stands in a URL. */
  private static String host(@Nullable String text) {
    if (text == null) {
      throw new IllegalArgumentException("it has no host");
    }
    boolean brackets = text.startsWith("[") && text.endsWith("]") && text.length() > 2;
    String bare = brackets ? text.substring(1, text.length() - 1) : text;
    if (bare.length() <= MAX_HOST) {
      if (bare.contains(":") && IPV6.matcher(bare).matches()) {
        return "[" + bare + "]";
      } else if (!brackets && (IPV4.matcher(bare).matches() || isName(bare))) {
        return bare;
      }
    }
    throw noHost(text);
  }

  private static boolean isName(String text) {
    String name = text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    String last = "";
    for (String label : name.split("\\.", -1)) {
      if (!LABEL.matcher(label).matches()) {
        return false;
      }
      last = label.toLowerCase(Locale.ROOT);
    }
    // Resolvers take 2130706433, 127.1 and 0x7f000001 for addresses. A container's name may begin
    // with a digit.
    return !NUMBER.matcher(last).matches();
  }

  private static IllegalArgumentException noHost(String text) {
    return new IllegalArgumentException(
        "its host must be a plain DNS name or IP address, not '" + Printable.of(text) + "'");
  }
}
