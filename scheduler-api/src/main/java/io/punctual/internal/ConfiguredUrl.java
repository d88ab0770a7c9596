package io.punctual.internal;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks URLs that people configure, and shows them in errors and logs without their secrets. */
public final class ConfiguredUrl {

  private static final Pattern SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://");

  private ConfiguredUrl() {}

  /**
   * Returns the URL with {@code ***} in place of user, password, query and fragment. Everything
   * before the last {@code @} counts as user and password, since a password may contain characters
   * that should have been encoded.
   */
  public static String masked(URI url) {
    return masked(url.toString());
  }

  private static String masked(String url) {
    String text = url;
    int at = text.lastIndexOf('@');
    if (at >= 0) {
      Matcher scheme = SCHEME.matcher(text);
      text = (scheme.lookingAt() ? scheme.group() : "") + "***" + text.substring(at);
    }
    return text.replaceFirst("([?#]).*", "$1***");
  }

  /**
   * Reads a URL. Properties have the type text for this: where Spring Boot cannot convert one, it
   * shows the whole value.
   *
   * @param property names it in the error
   * @throws IllegalArgumentException if it is none; the message shows it masked
   */
  public static URI parsed(String property, String url) {
    try {
      return new URI(url.strip());
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          "%s must be a URL such as http://10.0.0.7:8080, but was '%s': %s"
              .formatted(property, masked(url), e.getReason()));
    }
  }

  /**
   * Returns which part of the URL keeps an HTTP client from calling it: scheme, host or port.
   *
   * @return the end of a sentence, such as {@code "its host is missing or invalid"}; null if
   *     nothing is wrong
   */
  public static @Nullable String uncallable(URI url) {
    if (!"http".equalsIgnoreCase(url.getScheme()) && !"https".equalsIgnoreCase(url.getScheme())) {
      return "its scheme is not http or https";
    } else if (url.getHost() == null) {
      String authority = String.valueOf(url.getRawAuthority());
      // java.net.URI gives no host then.
      return authority.substring(authority.lastIndexOf('@') + 1).contains("_")
          ? "its host has an underscore, which host names must not have"
          : "its host is missing or invalid";
    }
    return url.getPort() == 0 || url.getPort() > 65_535
        ? "its port is not between 1 and 65535"
        : null;
  }

  /**
   * Returns which part of the URL is wrong: as {@link #uncallable}, or a user, query or fragment,
   * which it must not have. The path is not checked.
   */
  public static @Nullable String flaw(URI url) {
    String uncallable = uncallable(url);
    if (uncallable != null) {
      return uncallable;
    } else if (url.getRawUserInfo() != null) {
      return "it has a user";
    } else if (url.getRawQuery() != null) {
      return "it has a query";
    }
    return url.getRawFragment() == null ? null : "it has a fragment";
  }
}
