package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.SharedRedisTestBase;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.test.context.TestPropertySource;

/** How the console looks, on all screens and to everybody's eyes. */
@TestPropertySource(properties = SharedRedisTestBase.ALONE + "=ConsoleLooksIT")
@Tag("full")
class ConsoleLooksIT extends BrowserTestBase {

  private static final int[] WIDTHS = {390, 768, 1280, 1440, 2560};

  private static Stream<String> pages() {
    return Stream.of(
        "/console",
        "/console/queues",
        "/console/queues/shop/looks",
        "/console/queues/shop/held",
        "/console/jobs?q=app:shop",
        "/console/jobs/shop/looks/one",
        "/console/jobs/shop/looks.dead/dead",
        "/console/schedules",
        "/console/schedules/shop/looks/nightly",
        "/console/schedules/shop/looks/nightly/edit",
        "/console/schedules/shop/looks/nightly/backfill?from=2027-01-01T00:00:00Z&until=2027-01-09T00:00:00Z",
        "/console/dead",
        "/console/workers",
        "/console/doctor",
        "/console/operations",
        "/console/audit",
        "/console/queues/none/such",
        "/console/none/such");
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyPageFitsIsFairAndBreaksNoRule(String page) {
    if (call("GET", "/api/v1/jobs/shop/looks/one", "") == 404) {
      submit(
          "looks",
          "one",
          "2h",
          ",\"params\":\"{\\\"order\\\":4711,\\\"lines\\\":[{\\\"sku\\\":\\\"A-1\\\",\\\"count\\\":2}],"
              + "\\\"total\\\":12345678901234567890}\",\"tags\":[\"vip\"],\"headers\":{\"trace\":\"abc\"}");
      die(
          "looks.dead",
          "dead",
          "{}",
          "java.net.SocketTimeoutException: Read timed out after 3000 ms");
      assertThat(call("POST", "/api/v1/queues/shop/looks/pause", "")).isEqualTo(200);
      String nightly = "/api/v1/schedules/shop/looks/nightly";
      String schedule =
          "{\"cron\":\"30 2 * * MON-FRI\",\"zone\":\"Europe/Berlin\",\"params\":\"{}\",\"tags\":[\"vip\"]}";
      assertThat(call("PUT", nightly, schedule)).isEqualTo(201);
      submit("held", fresh(), "0s", "");
    }
    as("bea");
    var before = browser.complaints();
    assertThat(before).isNotNull();
    String name = page.replaceAll("[?&].*", "").replaceAll("^/console/?", "").replace('/', '-');
    // Each language and each of the colours once: to open a page and to look for barriers is what
    // takes the time.
    for (String language : new String[] {"en", "zh-CN"}) {
      String colours = language.equals("en") ? "light" : "dark";
      browser.colours(colours).open(page + (page.contains("?") ? "&" : "?") + "lang=" + language);
      browser.until(() -> !browser.one("h1").getText().isEmpty());
      assertThat(browser.run("return document.documentElement.lang")).isEqualTo(language);
      for (int width : WIDTHS) {
        browser.width(width);
        assertThat(browser.overflow()).as("%s at %d", page, width).isLessThanOrEqualTo(0);
        if (width == 390 || width == 1440) {
          browser.picture((name.isEmpty() ? "overview" : name) + "-" + colours + "-" + width);
        }
        if (width == (language.equals("en") ? 390 : 1440)) {
          assertThat(browser.unfair()).as("%s, %s, %d", page, colours, width).isEmpty();
        }
      }
    }
    assertThat(browser.complaints())
        .filteredOn(line -> !(page.endsWith("/none/such") && line.contains("404")))
        .isEmpty();
  }
}
