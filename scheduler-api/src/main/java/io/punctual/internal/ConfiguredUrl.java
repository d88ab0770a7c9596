package io.punctual.internal;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/** Checks URLs that people configure, and shows them in errors and logs without their secrets. */
public final class ConfiguredUrl {

  private ConfiguredUrl() {}

  /**
   * Returns the URL with {@code ***} in place of user, password, query and fragment. Everything
   * before the last {@code @} counts as user and password, since a password may contain characters
   * that should have been encoded.
   */
  public static String masked(URI url) {
    String text = url.toString();
    int at = text.lastIndexOf('@');
    if (at >= 0) {
      int slashes = text.indexOf("//");
      String scheme = slashes >= 0 && slashes < at ? text.substring(0, slashes + 2) : "";
      text = scheme + "***" + text.substring(at);
    }
    return text.replaceFirst("([?#]).*", "$1***");
  }

  /**
   * Returns which part of the URL keeps an HTTP client from calling it: scheme, host, port, user,
   * query or fragment. The path is not checked.
   *
   * @return the end of a sentence, such as {@code "its host is missing"}; null if nothing is wrong
   */
  public static @Nullable String flaw(URI url) {
    String authority = String.valueOf(url.getRawAuthority());
    if (!"http".equalsIgnoreCase(url.getScheme()) && !"https".equalsIgnoreCase(url.getScheme())) {
      return "its scheme is not http or https";
    } else if (authority.contains("@")) {
      return "it has a user";
    } else if (url.getHost() == null) {
      // java.net.URI gives no host then.
      return authority.contains("_")
          ? "its host has an underscore, which host names must not have"
          : "its host is missing or invalid";
    } else if (url.getPort() == 0 || url.getPort() > 65_535) {
      return "its port is not between 1 and 65535";
    } else if (url.getRawQuery() != null) {
      return "it has a query";
    }
    return url.getRawFragment() == null ? null : "it has a fragment";
  }
}
