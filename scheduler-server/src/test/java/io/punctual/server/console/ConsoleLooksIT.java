package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.server.SharedRedisTestBase;
import io.punctual.test.browser.Browser;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openqa.selenium.By;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;

/**
 * Checks how the console looks, on all screens and for all users: each page, and the states below.
 */
@TestPropertySource(properties = SharedRedisTestBase.ALONE + "=ConsoleLooksIT")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("full")
class ConsoleLooksIT extends BrowserTestBase {

  /** The selector of what only an operation under way has. */
  private static final String UNDER_WAY = "progress";

  private static final int[] WIDTHS = {390, 768, 1280, 1440, 2560};
  private static final RedisServer REDIS = RedisServer.startTemporary();
  private static final String JOB = "/console/jobs/shop/looks/one";
  private static final List<String> OF_ALL =
      List.of(
          "/console",
          "/console/queues",
          "/console/jobs",
          "/console/schedules",
          "/console/dead",
          "/console/workers",
          "/console/doctor",
          "/console/operations");

  @DynamicPropertySource
  static void ownRedis(DynamicPropertyRegistry registry) {
    // Takes precedence over host and port.
    registry.add("spring.data.redis.url", () -> "redis://127.0.0.1:" + REDIS.port());
  }

  @AfterAll
  static void stop() {
    REDIS.close();
  }

  /**
   * A state of a page.
   *
   * @param operator that opens it
   * @param act what brings the state about on the page
   * @param sign the selector of what it shows
   */
  private record State(
      String name, String operator, String page, Consumer<Browser> act, String sign) {

    @Override
    public String toString() {
      return name;
    }
  }

  private static Stream<String> pages() {
    return Stream.concat(
        OF_ALL.stream(),
        Stream.of(
            "/console/queues/shop/looks",
            "/console/queues/shop/held",
            "/console/jobs?q=app:shop",
            JOB,
            "/console/jobs/shop/looks.dead/dead",
            "/console/schedules/shop/looks/nightly",
            "/console/schedules/shop/looks/nightly/edit",
            "/console/schedules/shop/looks/nightly/backfill?from=2027-01-01T00:00:00Z&until=2027-01-09T00:00:00Z",
            "/console/audit",
            "/console/queues/none/such",
            "/console/none/such"));
  }

  private static Stream<State> states() {
    return Stream.of(
        new State(
            "a search that cannot be read",
            "bea",
            "/console/jobs?q=state:none",
            browser -> {},
            ".bad, .warn, [role=alert]"),
        new State(
            "an open menu", "bea", JOB, browser -> browser.click(".menu summary"), ".menu[open]"),
        new State(
            "a time that is none",
            "bea",
            JOB,
            browser -> {
              browser.type("form[action$='/reschedule'] input[name=when]", "soon");
              browser.click("form[action$='/reschedule'] button");
            },
            "#when-wrong"),
        new State(
            "told what was done",
            "bea",
            "/console/queues/shop/told",
            browser -> {
              browser.type("input[name=concurrency]", "7");
              browser.click("form[action$='/limits'] button");
            },
            ".told"),
        new State(
            "all queues checked",
            "bea",
            "/console/queues",
            browser -> browser.click("[data-check-all]"),
            "#checked"),
        new State("help", "bea", "/console", browser -> browser.click("#keys-show"), "#keys[open]"),
        new State(
            "a preview",
            "bea",
            "/console/jobs?q=app:shop+type:many",
            browser -> preview(browser, "CANCEL"),
            "form[action$='/begin']"),
        new State(
            "a number that is wrong",
            "bea",
            "/console/jobs?q=app:shop+type:many",
            browser -> {
              preview(browser, "PURGE");
              browser.type("input[name=number]", "1");
              browser.click("form[action$='/begin'] button");
            },
            "[role=alert]"),
        new State(
            "an operation under way",
            "bea",
            "/console/jobs?q=app:shop+type:many",
            browser -> begin(browser, "1"),
            UNDER_WAY),
        new State(
            "a stopped operation",
            "bea",
            "/console/jobs?q=app:shop+type:many",
            browser -> {
              begin(browser, "1");
              browser.click("form[action$='/stop'] button");
              browser.until(() -> browser.all(UNDER_WAY).isEmpty());
            },
            ".tag.stopped"),
        new State(
            "a failed operation",
            "bea",
            "/console/operations/failed-looks",
            browser -> {},
            ".tag.failed"),
        new State(
            "an interrupted operation",
            "bea",
            "/console/operations/interrupted-looks",
            browser -> {},
            ".tag.interrupted"),
        new State(
            "an undo of an operation",
            "bea",
            "/console/operations/interrupted-looks",
            browser -> {
              browser.click("form[action$='/undo'] button");
              browser.until(() -> browser.path().startsWith("/console/bulk/"));
            },
            ".warn"),
        new State(
            "a schedule without a time",
            "bea",
            "/console/schedules/new",
            browser -> {
              browser.type("input[name=application]", "shop");
              browser.type("input[name=taskType]", "looks");
              browser.type("input[name=id]", "typed");
              browser.type("input[name=cron]", "30 2 * *");
            },
            "#preview .bad, #preview [role=alert]"),
        new State("not allowed", "vera", "/console/audit", browser -> {}, "[role=alert]"),
        new State("a viewer's overview", "vera", "/console", browser -> {}, "h1"),
        new State("a viewer's queues", "vera", "/console/queues", browser -> {}, "h1"),
        new State("a viewer's queue", "vera", "/console/queues/shop/looks", browser -> {}, "h1"),
        new State("a viewer's job", "vera", JOB, browser -> {}, "h1"),
        new State("a viewer's dead letters", "vera", "/console/dead", browser -> {}, "h1"),
        new State("an operator's job", "otto", JOB, browser -> {}, "h1"));
  }

  private static void preview(Browser browser, String action) {
    browser.one("form[action$='/bulk']").findElement(By.xpath("ancestor::details/summary")).click();
    browser.click("form[action$='/bulk'] option[value=" + action + "]");
    browser.click("form[action$='/bulk'] button");
    browser.until(() -> browser.all("form[action$='/begin']").size() == 1);
  }

  private static void begin(Browser browser, String perSecond) {
    preview(browser, "CANCEL");
    browser.type("input[name=perSecond]", perSecond);
    browser.click("form[action$='/begin'] button");
    browser.until(() -> browser.path().startsWith("/console/operations/"));
  }

  /**
   * Looks at a page once in each language and once in each colour scheme, because opening it and
   * checking its accessibility take most of the time.
   */
  private void look(String name, String page, Consumer<Browser> act, String sign) {
    for (String language : new String[] {"en", "zh-CN"}) {
      String colours = language.equals("en") ? "light" : "dark";
      browser.colours(colours).open(page + (page.contains("?") ? "&" : "?") + "lang=" + language);
      act.accept(browser);
      browser.until(() -> browser.one(sign).isDisplayed());
      assertThat(browser.run("return document.documentElement.lang")).isEqualTo(language);
      for (int width : WIDTHS) {
        browser.width(width);
        assertThat(browser.cut()).as("%s at %d", name, width).isEqualTo("[]");
        if (width == (language.equals("en") ? 390 : 1440)) {
          assertThat(browser.unfair()).as("%s, %s, %d", name, colours, width).isEmpty();
        }
      }
      if (sign.equals(UNDER_WAY)) {
        // Else it would cancel the jobs of the states that follow.
        browser.click("form[action$='/stop'] button");
        browser.until(() -> browser.all(UNDER_WAY).isEmpty());
      }
    }
  }

  @Test
  @Order(1)
  void theLoginSaysWhatIsWrong() {
    look("login", "/console/login", browser -> {}, "h1");
    look(
        "login-wrong",
        "/console/login",
        browser -> {
          browser.type("input[name=username]", "bea");
          browser.type("input[name=password]", "wrong");
          browser.click("main form button");
        },
        "[role=alert]");
  }

  @Test
  @Order(2)
  void eachPageIsInOrderBeforeAnythingWasSubmitted() {
    as("bea");
    for (String page : OF_ALL) {
      look(page + "-empty", page, browser -> {}, "h1");
    }
    assertThat(browser.open("/console?lang=en").text()).contains("Nothing to do yet");
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  @Order(3)
  void jobsAreSubmitted() {
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
    submit("told", "one", "1h", "");
  }

  @ParameterizedTest
  @MethodSource("pages")
  @Order(4)
  void everyPageFitsIsFairAndBreaksNoRule(String page) {
    as("bea");
    var before = browser.complaints();
    assertThat(before).isNotNull();
    look(
        page,
        page,
        browser -> {
          if (!browser.all("#live[hx-get]").isEmpty()) {
            // What is new may move what is below it.
            browser.until(() -> Double.parseDouble(browser.movedByRefresh()) < 0.001);
          }
          browser.run(
              "for (const fold of document.querySelectorAll('main details')) fold.open = true");
        },
        "h1");
    assertThat(browser.complaints())
        .filteredOn(line -> !(page.endsWith("/none/such") && line.contains("404")))
        .isEmpty();
  }

  /** So many that an operation on one job a second does not end during the test. */
  @Test
  @Order(5)
  void manyJobsAreSubmitted() {
    String job = "{\"application\":\"shop\",\"taskType\":\"many\",\"delay\":\"2h\"}";
    String jobs = String.join(",", Collections.nCopies(900, job));
    assertThat(call("POST", "/api/v1/jobs/batch", "{\"jobs\":[" + jobs + "]}")).isEqualTo(200);
  }

  /** As schedulers leave them that failed, or ended. */
  @Test
  @Order(5)
  void operationsEndInOtherWays() {
    String record =
        "{\"id\":\"%s\",\"action\":\"cancel\",\"about\":\"shop/many, shop/looks\",\"searches\":[\"app:shop type:many state:delayed\"],\"checked\":[],\"unnamed\":0,\"when\":\"\",\"operator\":\"bea\",\"scheduler\":\"scheduler-with-a-long-name.example.internal:8080\",\"perSecond\":5,\"begun\":\"%s\",\"ended\":%s,\"state\":\"%s\",\"total\":9000,\"more\":true,\"outcomes\":{\"cancelled\":1234,\"in_delivery\":2,\"refused\":1},\"error\":%s,\"seen\":%d}";
    try (RedisConnection redis = connections.getConnection()) {
      long now = Objects.requireNonNull(redis.serverCommands().time());
      Instant begun = Instant.ofEpochMilli(now - 60_000);
      String failed =
          record.formatted(
              "failed-looks",
              begun,
              "\"" + begun.plusSeconds(20) + "\"",
              "failed",
              "\"Redis refuses writes (out of memory). Nothing was changed; retry later.\"",
              now);
      String interrupted =
          record.formatted("interrupted-looks", begun, "null", "running", "null", now - 40_000);
      for (String one : List.of(failed, interrupted)) {
        redis
            .hashCommands()
            .hSet(
                (prefix + ":operations").getBytes(StandardCharsets.UTF_8),
                one.substring(7, one.indexOf("\",")).getBytes(StandardCharsets.UTF_8),
                one.getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("states")
  @Order(6)
  void everyStateFitsAndIsFair(State state) {
    as(state.operator());
    look(state.name(), state.page(), state.act(), state.sign());
  }

  @Test
  @Order(7)
  void withoutRedisEachPageSaysSo() {
    as("bea").open("/console/jobs?q=app:shop+type:many&lang=en");
    begin(browser, "1");
    String operation = browser.path();
    REDIS.kill();
    browser.until(() -> browser.open("/console").text().contains("These numbers are old"));
    for (String page : OF_ALL) {
      look(page + "-away", page, browser -> {}, "h1");
    }
    for (String page : List.of("/console/queues/shop/looks", JOB, "/console/audit", operation)) {
      look(page.replaceFirst("/[0-9a-f-]{20,}", "") + "-away", page, browser -> {}, "h1");
    }
  }
}
