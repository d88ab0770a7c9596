package io.punctual.server.console;

import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.ui.Model;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.servlet.support.RequestContextUtils;

/**
 * Names what a part of a page is drawn from, so that a page that has the same part already is
 * answered with 304 before anything is drawn. A page sends the name back as {@code If-None-Match}.
 */
final class Drawn {

  // Another scheduler, or this one after a restart, has other figures under the same numbers.
  private static final String PROCESS = UUID.randomUUID().toString();

  private final String tag;

  private Drawn(String tag) {
    this.tag = tag;
  }

  /**
   * Names what a part is drawn from: that, the viewer and the rights, the session of its forms, the
   * language, the time zone and the address.
   *
   * @param from everything else that the part shows
   */
  static Drawn of(HttpServletRequest request, @Nullable Object... from) {
    List<@Nullable Object> all = new ArrayList<>();
    all.add(PROCESS);
    all.add(ConsoleAdvice.Viewer.current());
    all.add(request.getRequestedSessionId());
    // The token in the forms of a session that has ended would be refused.
    all.add(request.isRequestedSessionIdValid());
    all.add(RequestContextUtils.getLocale(request));
    all.add(TimeWords.of(request).now().getZone());
    all.add(request.getContextPath());
    all.add(request.getScheme() + "://" + request.getServerName() + ":" + request.getServerPort());
    all.addAll(Arrays.asList(from));
    return new Drawn(hash(all.toString()));
  }

  private static String hash(String text) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return "\"" + HexFormat.of().formatHex(hash, 0, 16) + "\"";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Adds the name to what is drawn, as {@code attribute}. */
  void addTo(Model model, String attribute) {
    model.addAttribute(attribute, tag);
  }

  /** Answers 304 and returns true if the page that asks has been drawn from the same. */
  boolean isThere(ServletWebRequest request) {
    return request.checkNotModified(tag);
  }
}
