package io.punctual.server.console;

import java.io.IOException;
import java.net.CookieManager;
import java.net.HttpCookie;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A browser without eyes: keeps cookies, and sends a form's token. */
final class Visitor implements AutoCloseable {

  private static final Pattern TOKEN = Pattern.compile("name=\"_csrf\" value=\"([^\"]+)\"");

  private final CookieManager cookies = new CookieManager();
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .cookieHandler(cookies)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();
  private final String base;
  private String token = "";

  Visitor(int port) {
    base = "http://localhost:" + port;
  }

  /** One who is in. */
  static Visitor loggedIn(int port, String name) {
    Visitor visitor = new Visitor(port);
    HttpResponse<String> answer = visitor.logIn(name, ConsoleTestBase.PASSWORD);
    if (!answer.headers().firstValue("Location").orElse("").endsWith("/console")) {
      throw new IllegalStateException("not let in: " + answer);
    }
    // Who logs in gets another token.
    var unused = visitor.get("/console");
    return visitor;
  }

  HttpResponse<String> logIn(String name, String password) {
    var unused = get("/console/login");
    return post("/console/login", Map.of("username", name, "password", password));
  }

  HttpResponse<String> get(String path, String... headers) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path));
    if (headers.length > 0) {
      request.headers(headers);
    }
    HttpResponse<String> answer = send(request.build());
    Matcher found = TOKEN.matcher(answer.body());
    if (found.find()) {
      token = found.group(1);
    }
    return answer;
  }

  /** Sends a form, with the token of the last page that had one. */
  HttpResponse<String> post(String path, Map<String, String> fields) {
    Map<String, String> all = new TreeMap<>(fields);
    all.put("_csrf", token);
    return bare(path, all);
  }

  /** Sends a form with several fields of the same name. */
  HttpResponse<String> post(String path, List<Map.Entry<String, String>> fields) {
    List<Map.Entry<String, String>> all = new ArrayList<>(fields);
    all.add(Map.entry("_csrf", token));
    return bare(path, all);
  }

  /** Where an answer sends the browser. */
  static String next(HttpResponse<String> answer) {
    return answer
        .headers()
        .firstValue("Location")
        .orElseThrow(() -> new AssertionError(answer + " leads nowhere: " + answer.body()))
        .replaceFirst("^https?://[^/]+", "");
  }

  /** Sends a form with these fields alone. */
  HttpResponse<String> bare(String path, Map<String, String> fields) {
    return bare(path, fields.entrySet());
  }

  private HttpResponse<String> bare(String path, Collection<Map.Entry<String, String>> fields) {
    String body =
        fields.stream()
            .map(field -> field.getKey() + "=" + encoded(field.getValue()))
            .collect(Collectors.joining("&"));
    return send(
        HttpRequest.newBuilder(URI.create(base + path))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build());
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** Has a cookie that somebody else made. */
  void keep(String name, String value) {
    HttpCookie cookie = new HttpCookie(name, value);
    cookie.setPath("/console");
    cookie.setVersion(0);
    cookies.getCookieStore().add(URI.create(base + "/console"), cookie);
  }

  List<HttpCookie> cookies() {
    return cookies.getCookieStore().getCookies();
  }

  private HttpResponse<String> send(HttpRequest request) {
    try {
      return http.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError("no answer to " + request, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  @Override
  public void close() {
    http.close();
  }
}
