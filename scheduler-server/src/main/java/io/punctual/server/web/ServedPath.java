package io.punctual.server.web;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Objects;

/**
 * The path by which the server chooses what serves a request: decoded and normalized. The request's
 * URI is as the client wrote it, and {@code /%61pi} in it is {@code /api}.
 */
public final class ServedPath {

  private ServedPath() {}

  /** The decoded path, without the context's. */
  public static String of(HttpServletRequest request) {
    return request.getServletPath() + Objects.requireNonNullElse(request.getPathInfo(), "");
  }

  /** Whether the path is that prefix, or below it. */
  public static boolean isBelow(HttpServletRequest request, String prefix) {
    String path = of(request);
    return path.startsWith(prefix)
        && (path.length() == prefix.length() || path.charAt(prefix.length()) == '/');
  }
}
