package io.punctual.wire;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The addresses of registries, parted from the users and passwords that Eureka takes in them:
 * {@code http://user:password@host:8761/eureka/}. Libraries log addresses; a password that is sent
 * as a header is in none of their lines.
 */
public final class RegistryAddresses {

  private static final Pattern ADDRESS =
      Pattern.compile("(?i)(\\s*https?://)(?:([^/?#]*)@)?([^/?#@]*)([/?#][^@]*)?");

  private final String text;
  private final Map<String, String> authorizations;

  private RegistryAddresses(String text, Map<String, String> authorizations) {
    this.text = text;
    this.authorizations = Map.copyOf(authorizations);
  }

  /**
   * Parts addresses from users and passwords.
   *
   * @param addresses separated by commas; user and password may be percent-encoded
   * @throws IllegalArgumentException if an address has an {@code @} where no user can end; the
   *     message does not contain the address
   */
  public static RegistryAddresses of(String addresses) {
    Map<String, String> authorizations = new HashMap<>();
    String text =
        Stream.of(addresses.split(",", -1))
            .map(address -> part(address, authorizations))
            .collect(Collectors.joining(","));
    return new RegistryAddresses(text, authorizations);
  }

  private static String part(String address, Map<String, String> authorizations) {
    Matcher matcher = ADDRESS.matcher(address);
    if (!matcher.matches()) {
      if (address.contains("@")) {
        throw new IllegalArgumentException(
            "An address of the registry (eureka.client.service-url) has an @ behind its host, or"
                + " does not begin with http:// or https://. If a user or password contains one of"
                + " , / ? # write it percent-encoded: %2C %2F %3F %23.");
      }
      return address;
    }
    String user = matcher.group(2);
    if (user == null) {
      return address;
    }
    String plain = matcher.group(1) + matcher.group(3);
    authorizations.put(origin(URI.create(plain.strip())), basic(user));
    return matcher.group(4) == null ? plain : plain + matcher.group(4);
  }

  private static String basic(String user) {
    int colon = user.indexOf(':');
    String decoded =
        colon < 0
            ? decoded(user) + ":"
            : decoded(user.substring(0, colon)) + ":" + decoded(user.substring(colon + 1));
    return "Basic " + Base64.getEncoder().encodeToString(decoded.getBytes(StandardCharsets.UTF_8));
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      // A percent sign that encodes nothing stands for itself.
      return text;
    }
  }

  // By the authority, since java.net.URI knows no host with an underscore.
  private static String origin(URI address) {
    String scheme = String.valueOf(address.getScheme()).toLowerCase(Locale.ROOT);
    String host = String.valueOf(address.getRawAuthority()).toLowerCase(Locale.ROOT);
    String port = host.matches(".*:[0-9]+") ? "" : scheme.equals("https") ? ":443" : ":80";
    return scheme + "://" + host + port;
  }

  /**
   * Returns the {@code Authorization} header for a request, or empty if the address of its host and
   * port was given without a user.
   */
  public Optional<String> authorization(URI request) {
    return Optional.ofNullable(authorizations.get(origin(request)));
  }

  /** Returns the addresses without users and passwords. */
  @Override
  public String toString() {
    return text;
  }
}
