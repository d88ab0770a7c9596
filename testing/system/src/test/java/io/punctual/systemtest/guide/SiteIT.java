package io.punctual.systemtest.guide;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.punctual.systemtest.ModuleDirectory;
import io.punctual.test.browser.Browser;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The pages of the site in a browser: on a phone and on two screens, light and dark. Looks at each
 * {@code site.every}-th page, 60 unless set, of those that match {@code site.pages}.
 */
@Tag("full")
class SiteIT {

  private static final Path DOCS = ModuleDirectory.root().resolve("docs");
  private static final Path SITE = DOCS.resolve("target/site").toAbsolutePath().normalize();
  private static final int EVERY = Integer.getInteger("site.every", 60);
  private static final Pattern PAGES = Pattern.compile(System.getProperty("site.pages", ".*"));
  private static final List<Integer> WIDTHS = List.of(390, 1280, 1600);
  private static final List<String> COLOURS = List.of("light", "dark");
  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "js", "text/javascript",
          "css", "text/css",
          "svg", "image/svg+xml");

  // "Good" of Core Web Vitals is 0.1; these pages have nothing that comes late.
  private static final double MOST_SHIFT = 0.01;

  private static final long TEXT_AFTER_MS = 200;
  private static final AtomicInteger CUT = new AtomicInteger();

  private static HttpServer server;
  private static ExecutorService threads;
  private static Browser browser;

  @BeforeAll
  static void start() throws Exception {
    Path installed = DOCS.resolve("node_modules/.package-lock.json");
    if (Files.notExists(installed)
        || Files.getLastModifiedTime(installed)
                .compareTo(Files.getLastModifiedTime(DOCS.resolve("package-lock.json")))
            < 0) {
      npm("ci", "--no-audit", "--no-fund");
    }
    npm("run", "build");
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    threads = Executors.newFixedThreadPool(8);
    server.setExecutor(threads);
    server.createContext("/", SiteIT::serve);
    server.start();
    browser = new Browser("http://localhost:" + server.getAddress().getPort(), "site");
  }

  @AfterAll
  static void stop() {
    browser.close();
    server.stop(0);
    threads.shutdownNow();
  }

  private static void npm(String... arguments) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(Stream.concat(Stream.of("npm"), Stream.of(arguments)).toList())
            .directory(DOCS.toFile())
            .redirectErrorStream(true)
            .start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(out).isZero();
  }

  private static void serve(HttpExchange call) throws IOException {
    try (call) {
      Path file = SITE.resolve(call.getRequestURI().getPath().substring(1)).normalize();
      if (!file.startsWith(SITE) || !Files.isRegularFile(file)) {
        call.sendResponseHeaders(404, -1);
        return;
      }
      String name = file.toString();
      String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
      if (type != null) {
        call.getResponseHeaders().set("Content-Type", type);
      }
      byte[] bytes = Files.readAllBytes(file);
      call.sendResponseHeaders(200, bytes.length == 0 ? -1 : bytes.length);
      int cut = name.endsWith(".html") ? beforeText(bytes) : 0;
      call.getResponseBody().write(bytes, 0, cut);
      if (cut > 0) {
        CUT.incrementAndGet();
        // As on a slow line: the browser draws what has come.
        call.getResponseBody().flush();
        Thread.sleep(TEXT_AFTER_MS);
      }
      call.getResponseBody().write(bytes, cut, bytes.length - cut);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Where the text of a page begins, behind the bar, the sidebar and the outline; else 0. */
  private static int beforeText(byte[] page) {
    String html = new String(page, StandardCharsets.ISO_8859_1);
    int container = html.indexOf("<div class=\"content-container\"");
    return Math.max(0, html.lastIndexOf("<div class=\"content\"", container));
  }

  @Test
  void pagesFitOnEachScreenAndCanBeReadByAll() throws IOException {
    List<String> findings = new ArrayList<>();
    List<String> pages = pages();
    for (String page : pages) {
      int before = findings.size();
      for (int width : WIDTHS) {
        for (String colours : COLOURS) {
          look(page, width, colours).forEach(findings::add);
        }
      }
      if (findings.size() > before) {
        browser.picture(page.replace('/', '_').replace(".html", ""));
      }
    }
    System.out.printf(
        "%d pages at %s px, light and dark: %d findings%n", pages.size(), WIDTHS, findings.size());
    assertThat(findings).isEmpty();
    assertThat(CUT).as("pages whose text came late").hasPositiveValue();
  }

  @ParameterizedTest
  @CsvSource({
    "index.html, dead letters, /retry.html#dead-letters",
    "index.html, backup, /backup.html",
    // A word in the middle of a sentence without spaces.
    "zh/index.html, 重试, /zh/first-job.html",
  })
  void theSearchFindsAPageAndOpensIt(String page, String words, String found) {
    open(page, 1280, "light");
    // The box would begin with the words of the last search.
    browser.run("sessionStorage.clear()");
    browser.click("#local-search button");
    browser.until(() -> browser.one(".VPLocalSearchBox input").isDisplayed());
    browser.type(".VPLocalSearchBox input", words);
    browser.until(() -> results().stream().anyMatch(result -> result.startsWith(found)));
    browser.click(".VPLocalSearchBox a[href^='%s']".formatted(found));
    browser.until(() -> browser.path().startsWith(found));
    assertThat(browser.complaints()).isEmpty();
  }

  private static List<String> results() {
    return browser.all(".VPLocalSearchBox .result").stream()
        .map(result -> String.valueOf(result.getDomAttribute("href")))
        .toList();
  }

  private static List<String> pages() throws IOException {
    try (Stream<Path> files = Files.walk(SITE)) {
      List<String> all =
          files
              .filter(file -> file.toString().endsWith(".html"))
              .map(file -> SITE.relativize(file).toString().replace('\\', '/'))
              .filter(page -> !page.equals("404.html") && PAGES.matcher(page).matches())
              .sorted()
              .toList();
      return IntStream.range(0, all.size())
          .filter(i -> i % EVERY == 0 || all.get(i).equals("index.html"))
          .mapToObj(all::get)
          .toList();
    }
  }

  private static void open(String page, int width, String colours) {
    browser.size(width, 900).colours(colours).open("/" + page);
    browser.until(
        () -> browser.run("return !!document.getElementById('app').__vue_app__").equals("true"));
  }

  private static Stream<String> look(String page, int width, String colours) {
    open(page, width, colours);
    List<String> found = new ArrayList<>();
    // Wider screens only have more room, and the check is the slowest part.
    if (width != WIDTHS.getLast()) {
      found.addAll(browser.unfair());
    }
    if (browser.overflow() > 0) {
      found.add("is wider than the screen by " + browser.overflow());
    }
    double shift = browser.shift();
    if (shift > MOST_SHIFT) {
      found.add("moves while it is loaded: " + shift);
    }
    found.addAll(browser.complaints());
    return found.stream().map(one -> "%s %d %s: %s".formatted(page, width, colours, one));
  }
}
