package io.punctual.server.security;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseCookie;
import org.springframework.security.web.savedrequest.RequestCache;
import org.springframework.security.web.savedrequest.SavedRequest;
import org.springframework.security.web.savedrequest.SimpleSavedRequest;
import org.springframework.web.util.WebUtils;

/**
 * Remembers in a cookie which page of the console to show after the login. The scheduler itself
 * keeps nothing of strangers.
 */
final class LoginReturnCookie implements RequestCache {

  static final String COOKIE = "punctual-return";

  private static final int MAX = 2_000;
  private static final Pattern PAGE = Pattern.compile("/console(?:[/?][!-~]*)?");

  /** Dot segments and double slashes would lead out of the console, or nowhere. */
  private static boolean isPage(String address) {
    String path = address.replaceFirst("\\?.*", "");
    return PAGE.matcher(address).matches() && !path.contains("/.") && !path.contains("//");
  }

  @Override
  public void saveRequest(HttpServletRequest request, HttpServletResponse response) {
    String query = request.getQueryString();
    String page = request.getRequestURI() + (query == null ? "" : "?" + query);
    String into = request.getHeader("Sec-Fetch-Dest");
    // Only pages that an operator opens, not what these load, send or poll.
    if (request.getMethod().equals("GET")
        && request.getHeader("HX-Request") == null
        && (into == null || into.equals("document"))
        && String.valueOf(request.getHeader("Accept")).contains("text/html")
        && page.length() <= MAX
        && isPage(page)) {
      cookie(
          response,
          Base64.getUrlEncoder()
              .withoutPadding()
              .encodeToString(page.getBytes(StandardCharsets.UTF_8)),
          Duration.ofMinutes(30));
    }
  }

  @Override
  public @Nullable SavedRequest getRequest(
      HttpServletRequest request, HttpServletResponse response) {
    var cookie = WebUtils.getCookie(request, COOKIE);
    if (cookie == null) {
      return null;
    }
    try {
      String page =
          new String(Base64.getUrlDecoder().decode(cookie.getValue()), StandardCharsets.UTF_8);
      return isPage(page) ? new SimpleSavedRequest(page) : null;
    } catch (IllegalArgumentException e) {
      // Not one of ours.
      return null;
    }
  }

  @Override
  public @Nullable HttpServletRequest getMatchingRequest(
      HttpServletRequest request, HttpServletResponse response) {
    // A page is asked for again; there is nothing else to bring back.
    return null;
  }

  @Override
  public void removeRequest(HttpServletRequest request, HttpServletResponse response) {
    if (WebUtils.getCookie(request, COOKIE) != null) {
      cookie(response, "", Duration.ZERO);
    }
  }

  private static void cookie(HttpServletResponse response, String value, Duration age) {
    response.addHeader(
        HttpHeaders.SET_COOKIE,
        ResponseCookie.from(COOKIE, value)
            .path(SecurityConfiguration.CONSOLE)
            .httpOnly(true)
            .sameSite("Strict")
            .maxAge(age)
            .build()
            .toString());
  }
}
