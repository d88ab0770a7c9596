package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.SharedRedisTestBase;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.springframework.test.context.TestPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The console as people meet it: in Chromium. */
@TestPropertySource(properties = SharedRedisTestBase.ALONE + "=ConsoleBrowserIT")
@Tag("full")
class ConsoleBrowserIT extends BrowserTestBase {

  private static final List<String> HOSTILE =
      List.of(
          "<img src=x onerror=\"window.hacked=1\">",
          "</script><script>window.hacked=1</script>",
          "\"><svg onload=window.hacked=1>",
          "javascript:window.hacked=1",
          "${7*7} #{7*7} [[${7*7}]] {{7*7}} <%= 7*7 %>",
          "\u202Egnp.exe",
          "' onfocus='window.hacked=1' autofocus='");

  @Test
  void aQueueIsPausedLimitedResumedAndPurgedOnceItsNameIsTyped() {
    submit("acts", "one", "1h", "");
    // The load to come has a table that unfolds, too.
    String purge = "details:has(form[action$='/purge']) summary";
    as("bea").open("/console/queues/shop/acts");
    browser.click(".menu > summary");
    browser.click("form[action$='/pause'] button");
    browser.until(() -> browser.text("#live").contains("paused"));
    browser.open("/console/queues?state=paused");
    assertThat(browser.all("tbody th a[title='shop/acts']")).hasSize(1);
    browser.open("/console/queues/shop/acts").click("form[action$='/resume'] button");
    browser.until(() -> browser.text("#head").contains("on time"));
    browser.type("input[name=concurrency]", "7");
    browser.type("input[name=rate]", "50/m");
    browser.click("form[action$='/limits'] button");
    browser.until(() -> browser.text("[role=status]").contains("limits"));
    assertThat(
            api.call("GET", "/api/v1/queues/shop/acts", "", ADMIN).body().at("/limits").toString())
        .isEqualTo("{\"concurrency\":7,\"rate\":\"50/m\"}");
    String day = LocalDate.now(ZoneOffset.UTC).plusDays(3).getDayOfWeek().name().substring(0, 3);
    browser.open("/console/queues/shop/acts").type("input[name=window]", day + " 09:00-20:00");
    browser.click("form[action$='/hours'] button");
    browser.until(() -> browser.text("[role=status]").contains("hours"));
    assertThat(browser.text("#head")).contains("closed");
    assertThat(browser.text("#live")).contains("It is outside of its hours.");
    browser.open("/console/queues?state=closed");
    assertThat(browser.all("tbody th a[title='shop/acts']")).hasSize(1);
    browser.open("/console/queues/shop/acts").type("input[name=window]", "");
    browser.click("form[action$='/hours'] button");
    browser.until(() -> browser.text("#head").contains("on time"));
    browser.open("/console/queues/shop/acts").click(purge);
    browser.one("select[name=state]").sendKeys("delayed");
    browser.type("input[name=name]", "shop/other");
    browser.click("form[action$='/purge'] button");
    browser.until(() -> browser.text().contains("must be shop/acts"));
    browser.click("#go-back");
    browser.until(() -> browser.path().equals("/console/queues/shop/acts"));
    browser.open("/console/queues/shop/acts").click(purge);
    browser.one("select[name=state]").sendKeys("delayed");
    browser.type("input[name=name]", "shop/acts");
    browser.click("form[action$='/purge'] button");
    browser.until(() -> browser.path().startsWith("/console/operations/"));
    browser.until(() -> browser.text("#live").contains("purged"));
    assertThat(call("GET", "/api/v1/jobs/shop/acts/one", "")).isEqualTo(404);
    browser.open("/console/audit");
    assertThat(browser.text()).contains("bea", "pause", "limit", "purge many");
  }

  @Test
  void queuesAreCheckedAndPausedTogetherAndStayCheckedMeanwhile() {
    for (String type : List.of("chosen.a", "chosen.b", "chosen.c")) {
      submit(type, "one", "1h", "");
    }
    as("otto");
    browser.until(() -> browser.open("/console/queues?q=chosen.").all("tbody tr").size() == 3);
    assertThat(browser.one("#checked").isDisplayed()).isFalse();
    browser.click("input[value='shop/chosen.a']");
    browser.click("input[value='shop/chosen.b']");
    assertThat(browser.text(".picked [role=status]")).isEqualTo("2 checked");
    for (String colours : new String[] {"light", "dark"}) {
      for (int width : new int[] {380, 1280}) {
        browser.width(width).colours(colours);
        assertThat(browser.overflow()).isLessThanOrEqualTo(0);
        assertThat(browser.unfair()).isEmpty();
        browser.picture("queues-checked-" + colours + "-" + width);
      }
    }
    // The live part would have been replaced by now, were no box checked.
    browser.type(
        "#checked input[name=reason]", "deploy of the shop, and of all that it asks at night");
    submit("chosen.c", "two", "1h", "");
    browser.click("#checked button[value=pause]");
    browser.until(() -> browser.text("main > [role=status]").contains("queues are paused"));
    assertThat(browser.text("#live")).contains("deploy");
    assertThat(browser.all("#live .pause")).hasSize(2);
    browser.width(1440);
    assertThat(
            browser.run(
                "const table = document.querySelector('#live .scroll');"
                    + "return String(table.scrollWidth - table.clientWidth);"))
        .isEqualTo("0");
    assertThat(browser.one("#checked").isDisplayed()).isFalse();
    // After the live part was replaced, all can still be checked at once.
    browser.until(() -> browser.text("#live").contains("2"));
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .ignoreException(StaleElementReferenceException.class)
        .until(
            () -> {
              browser.click("[data-check-all]");
              return browser.text(".picked [role=status]").equals("3 checked");
            });
    browser.click("#checked button[value=resume]");
    browser.until(() -> browser.text("main > [role=status]").contains("queues are resumed"));
    assertThat(browser.all("#live .pause")).isEmpty();
  }

  @Test
  void aJobIsFoundEditedMovedRunAndCancelled() {
    String id = fresh();
    submit("job.acts", id, "1h", ",\"params\":\"old\"");
    as("otto").open("/console/jobs");
    browser.type("input[name=q]", id);
    browser.press(Keys.ENTER);
    browser.until(() -> browser.text().contains("1h") || browser.all("tbody th a").size() == 1);
    browser.click("tbody th a");
    browser.until(() -> browser.path().endsWith(id));
    browser.one("form[action$='/edit'] button").getText();
    for (var summary : browser.all("summary")) {
      if (summary.getText().equals("Edit params")) {
        summary.click();
      }
    }
    browser.type("textarea[name=params]", "new <b>params</b>");
    browser.click("form[action$='/edit'] button");
    browser.until(() -> browser.text("[role=status]").contains("params are changed"));
    assertThat(browser.text("#params")).isEqualTo("new <b>params</b>");
    browser.type("form[action$='/reschedule'] input[name=when]", "2035-01-31T12:00:00Z");
    browser.click("form[action$='/reschedule'] button");
    browser.until(() -> browser.text("[role=status]").contains("new time"));
    assertThat(browser.text("#live")).contains("2035");
    browser.click("form[action$='/run'] button");
    browser.until(() -> browser.text("[role=status]").contains("due now"));
    browser.until(() -> browser.text("#live").contains("No instance is registered"));
    assertThat(browser.one("form[action$='/cancel'] button").isDisplayed()).isFalse();
    browser.click(".menu summary");
    browser.click("form[action$='/cancel'] button");
    browser.accept();
    browser.until(() -> browser.text("[role=status]").contains("is cancelled"));
    assertThat(browser.text("#live .tag")).isEqualTo("cancelled");
    browser.click(".told form[action$='/restore'] button");
    browser.until(() -> browser.text("[role=status]").contains("The cancel is undone"));
    assertThat(browser.text("#live .tag")).isNotEqualTo("cancelled");
  }

  @Test
  void timesAreInTheZoneOfTheBrowserUntilUtcIsChosen() {
    String job = "{\"application\":\"shop\",\"taskType\":\"zoned\",\"taskId\":\"one\",";
    assertThat(call("POST", "/api/v1/jobs", job + "\"dueAt\":\"2035-01-31T12:00:00.123Z\"}"))
        .isEqualTo(201);
    as("otto")
        .zone("Asia/Shanghai")
        .open("/console/jobs?q=type:zoned+from:2035-01-31+until:2035-01-31");
    // The first page of this browser in that zone.
    browser.until(
        () -> browser.text().contains("due: 2035-01-31 00:00 to 2035-01-31 24:00 (UTC+8)"));
    browser.open("/console/jobs/shop/zoned/one");
    assertThat(browser.text("#live")).contains("Jan 31, 2035, 8:00:00.123 PM");
    assertThat(browser.one("#live time.ms").getDomAttribute("title")).contains("GMT+8", "Z");
    browser.type("form[action$='/reschedule'] input[name=when]", "soon");
    browser.click("form[action$='/reschedule'] button");
    browser.until(() -> browser.text("#when-wrong").contains("(all in UTC+8)"));
    assertThat(browser.unfair()).isEmpty();
    browser.type("form[action$='/reschedule'] input[name=when]", "2036-01-31 9:00");
    browser.press(Keys.ENTER);
    browser.until(() -> browser.text("[role=status]").contains("new time"));
    assertThat(due("zoned", "one")).isEqualTo("2036-01-31T01:00:00Z");
    browser.click("#zone-switch");
    browser.until(() -> browser.text("#live").contains("Jan 31, 2036, 1:00:00.000 AM"));
    assertThat(browser.one("#zone-switch").getDomAttribute("aria-pressed")).isEqualTo("true");
    browser.open("/console/jobs?q=type:zoned+from:2036-01-31");
    assertThat(browser.text()).contains("due: 2036-01-31 00:00 or later (UTC)");
    browser.click("#zone-switch");
    browser.until(() -> browser.text().contains("(UTC+8)"));
    browser.zone("");
  }

  @Test
  void deadLettersAreGroupedByTheirErrorAndRequeued() {
    String type = "dies." + UUID.randomUUID().toString().substring(0, 6);
    for (int i = 0; i < 3; i++) {
      die(type, "d" + i, "{}", "Connection to 10.0.0." + i + " refused after " + i + "00 ms");
    }
    die(type, "other", "{}", "no such order");
    as("otto");
    browser.until(
        () -> browser.open("/console/dead").text().contains("Connection to 10.0.0.2 refused"));
    WebElement group = row(type, "Connection to");
    assertThat(group.getText()).containsPattern("\\b3\\s+3\\b");
    group.findElement(By.tagName("summary")).click();
    detail(group).findElement(By.tagName("button")).click();
    browser.until(() -> browser.text().contains("3 jobs match"));
    browser.type("input[name=perSecond]", "100");
    browser.click("form[action$='/begin'] button");
    browser.until(() -> browser.text("#live").contains("waits again"));
    assertThat(call("GET", "/api/v1/jobs/shop/" + type + "/other", "")).isEqualTo(200);
    Awaitility.await()
        .until(
            () ->
                api.call("GET", "/api/v1/queues/shop/" + type, "", ADMIN).body().at("/dead").asInt()
                    == 1);
  }

  @Test
  void aWholeOperationIsUndoneOnceItIsDone() {
    for (String one : List.of("o1", "o2", "o3")) {
      submit("undo.all", one, "1h", "");
    }
    as("otto").open("/console/jobs?q=app:shop+type:undo.all");
    browser.all("summary").stream()
        .filter(summary -> summary.getText().startsWith("Do something"))
        .findFirst()
        .orElseThrow()
        .click();
    browser.click("form[action$='/bulk'] button");
    browser.until(() -> browser.text().contains("3 jobs match"));
    browser.click("form[action$='/begin'] button");
    // The button comes with the end, without a click.
    browser.until(() -> browser.all("#live form[action$='/undo'] button").size() == 1);
    assertThat(browser.text("#live")).contains("can be undone until");
    assertThat(browser.unfair()).isEmpty();
    browser.click("#live form[action$='/undo'] button");
    browser.until(() -> browser.text().contains("3 of 3 cancelled jobs can be restored"));
    assertThat(browser.unfair()).isEmpty();
    browser.click("form[action$='/begin'] button");
    browser.until(() -> browser.text("#live").contains("restored"));
    browser.until(() -> browser.all("#live .tag.done").size() == 1);
    assertThat(browser.all("form[action$='/undo']")).isEmpty();
    browser.open("/console/jobs?q=app:shop+type:undo.all");
    assertThat(browser.all("tbody th a")).hasSize(3);
  }

  @Test
  void whatNoWordsTellApartIsNotOfferedAsAGroup() {
    String type = "dies.wordless";
    die(type, "w1", "{}", "17");
    die(type, "w2", "{}", "no such order");
    as("bea");
    browser.until(() -> browser.open("/console/dead").text().contains(type));
    int wordless = 0;
    for (WebElement group : browser.all(ROWS)) {
      if (group.findElements(By.cssSelector("a[title='shop/" + type + "']")).isEmpty()) {
        continue;
      }
      group.findElement(By.tagName("summary")).click();
      WebElement detail = detail(group);
      boolean none = detail.getText().contains("No words tell these");
      assertThat(none).isEqualTo(!detail.getText().contains("no such order"));
      assertThat(group.findElements(By.tagName("input")).isEmpty()).isEqualTo(none);
      assertThat(detail.findElements(By.tagName("button")).isEmpty()).isEqualTo(none);
      wordless += none ? 1 : 0;
    }
    assertThat(wordless).isEqualTo(1);
  }

  private static final String ROWS = ".errors tbody tr:not(.detail)";

  /** The row of the dead letters of a queue whose error has that piece without numbers. */
  private WebElement row(String type, String piece) {
    return browser.one(
        ".errors tr:has(input[value*='type:%s '][value*='%s'])".formatted(type, piece));
  }

  private static WebElement detail(WebElement row) {
    return row.findElement(By.xpath("following-sibling::tr[1]"));
  }

  @Test
  void deadLettersAreLowRowsWhoseDetailOpens() {
    String type = "dies.rows";
    die(
        type,
        "one",
        "{}",
        "java.util.concurrent.TimeoutException: the partner of this order did not answer in time\n"
            + "\tat java.base/java.net.Socket.read(Socket.java:1)\n"
            + "\tat org.springframework.web.client.RestClient.call(RestClient.java:1)\n"
            + "\tat shop.Orders.close(Orders.java:41)\nCaused by: a.FirstException: 1\n"
            + "Caused by: a.SecondException: 2\nCaused by: a.ThirdException: 3\n\t... 9 more");
    as("bea");
    By box = By.cssSelector("input[type=checkbox][value*='type:" + type + " ']");
    browser.until(() -> browser.open("/console/dead").one("main").findElements(box).size() == 1);
    WebElement row = row(type, "did not answer");
    WebElement message = row.findElement(By.cssSelector(".line .mid"));
    WebElement error =
        row.findElement(By.cssSelector("[title='java.util.concurrent.TimeoutException']"));
    assertThat(error.getText()).isEqualTo("TimeoutException");
    assertThat(error.getLocation().getX()).isGreaterThan(message.getLocation().getX());
    for (int width : new int[] {1280, 1440}) {
      browser.width(width);
      assertThat(browser.all(ROWS)).allMatch(one -> one.getSize().getHeight() <= 37);
    }
    assertThat(browser.all(".errors button")).noneMatch(WebElement::isDisplayed);
    row.findElement(By.tagName("summary")).click();
    WebElement detail = detail(row);
    assertThat(detail.getText())
        .contains("java.util.concurrent.TimeoutException", "a.FirstException", "a.ThirdException")
        .contains("2 library frames", "one further cause")
        .doesNotContain("a.SecondException", "RestClient.java");
    assertThat(detail.findElement(By.cssSelector("pre b")).getText().strip())
        .isEqualTo("at shop.Orders.close(Orders.java:41)");
    for (String colours : new String[] {"light", "dark"}) {
      for (int width : new int[] {390, 1440}) {
        browser.width(width).colours(colours);
        assertThat(browser.overflow()).isLessThanOrEqualTo(0);
        assertThat(browser.unfair()).isEmpty();
        browser.picture("dead-open-" + colours + "-" + width);
      }
    }
    detail.findElement(By.tagName("summary")).click();
    assertThat(detail.findElement(By.cssSelector("details pre")).getText())
        .contains("a.SecondException", "RestClient.java", "9 more");
    assertThat(browser.unfair()).isEmpty();
    WebElement purge = detail.findElement(By.cssSelector("button.danger"));
    assertThat(purge.isDisplayed()).isTrue();
    assertThat(purge.getCssValue("background-color")).isEqualTo("rgba(0, 0, 0, 0)");
    row.findElement(By.tagName("summary")).click();
    assertThat(detail.isDisplayed()).isFalse();
  }

  @Test
  void onlyTheLastTwoAttemptsAreUnfoldedAndWhatWasUnfoldedStaysSo() {
    String id = fresh();
    submit("folds", id, "0s", ",\"retry\":\"100ms,100ms;attempts=3\"");
    for (int i = 1; i <= 3; i++) {
      JsonNode claimed =
          post(
              "/api/v1/claims",
              "{\"application\":\"shop\",\"taskTypes\":[\"folds\"],\"wait\":10000}");
      String nack = "/api/v1/claims/" + claimed.at("/jobs/0/token").asString() + "/nack";
      assertThat(call("POST", nack, "{\"error\":\"a.b.TryException: number " + i + "\"}"))
          .isEqualTo(200);
    }
    as("vera").open("/console/jobs/shop/folds/" + id);
    browser.until(() -> browser.all(".story li.bad").size() == 3);
    assertThat(browser.all(".story > li > pre")).hasSize(2);
    assertThat(browser.text(".story .fold summary")).contains("TryException");
    browser.click(".story .fold summary");
    browser.run("document.getElementById('live').mark = 1");
    browser.until(() -> browser.run("return document.getElementById('live').mark").equals("null"));
    assertThat(browser.run("return document.activeElement.matches('.fold > summary')"))
        .isEqualTo("true");
    assertThat(browser.text(".story .fold pre")).isEqualTo("a.b.TryException: number 1");
  }

  @Test
  void targetsAreLargeFieldsAreAsHighAsButtonsAndTagsHaveRoomBetweenThem() {
    submit("sizes", "one", "1h", ",\"tags\":[\"a\",\"b\"]");
    die("sizes.dead", "one", "{}", "SizesException");
    String nightly = "/api/v1/schedules/shop/sizes/nightly";
    assertThat(call("PUT", nightly, "{\"cron\":\"30 2 * * *\"}")).isEqualTo(201);
    as("bea");
    for (String page :
        List.of(
            "/console",
            "/console/queues",
            "/console/queues/shop/sizes",
            "/console/jobs?q=app:shop",
            "/console/jobs/shop/sizes/one",
            "/console/dead",
            "/console/schedules",
            "/console/schedules/shop/sizes/nightly",
            "/console/workers",
            "/console/audit")) {
      browser.open(page);
      // Links within a sentence are as high as its line.
      String small =
          """
          return JSON.stringify([...document.querySelectorAll('main :is(a, button, summary, select, input:not([type=hidden]))')]
            .filter(one => one.checkVisibility() && !one.matches('[tabindex="-1"]') && !(one.matches('a') && one.closest('p:not(.pages, .path, .chips), dd:not(.chips), pre')))
            .map(one => [one.closest('label.check, .check label') || one, one.outerHTML.slice(0, 120)])
            .filter(([one]) => { const box = one.getBoundingClientRect(); return box.height < 24 || box.width < 24; })
            .map(([one, text]) => one.getBoundingClientRect().height + ' ' + text))""";
      assertThat(browser.run(small)).as(page).isEqualTo("[]");
      String heights =
          """
          return JSON.stringify([...new Set([...document.querySelectorAll('main form.filter')].flatMap(form =>
            [...form.querySelectorAll('button, select, input:not([type=hidden])')]
              .filter(one => one.checkVisibility()).map(one => Math.round(one.getBoundingClientRect().height))))])""";
      assertThat(browser.run(heights)).as(page).isIn("[32]", "[]");
      String scrolled =
          "return Math.max(0, ...[...document.querySelectorAll('.scroll')].map(part =>"
              + " part.scrollHeight - part.clientHeight))";
      assertThat(browser.run(scrolled)).as(page).isEqualTo("0");
      if (page.endsWith("/sizes/one")) {
        List<WebElement> tags = browser.all("dd a.tag");
        assertThat(tags).hasSize(2);
        assertThat(tags.get(1).getLocation().getX())
            .isGreaterThanOrEqualTo(
                tags.get(0).getLocation().getX() + tags.get(0).getSize().getWidth() + 6);
      }
    }
  }

  @Test
  void groupsOfDeadLettersAreCheckedAndRequeuedTogether() {
    String type = "dies.checked";
    die(type, "t1", "{}", "timed out, after 100 ms");
    die(type, "t2", "{}", "timed out, after 200 ms");
    die(type, "no", "{}", "no such parcel");
    die(type, "left", "{}", "left alone");
    as("otto");
    browser.until(() -> browser.open("/console/dead").text().contains("left alone"));
    assertThat(browser.one("#checked").isDisplayed()).isFalse();
    for (String error : List.of("timed out, after", "no such parcel")) {
      browser.click(".errors input[value*='type:%s '][value*='%s']".formatted(type, error));
    }
    assertThat(browser.text(".picked [role=status]")).isEqualTo("2 checked");
    browser.click("#checked button");
    browser.until(() -> browser.text().contains("3 jobs match"));
    browser.click("form[action$='/begin'] button");
    browser.until(() -> browser.text("#live").contains("waits again"));
    Awaitility.await()
        .until(
            () ->
                api.call("GET", "/api/v1/queues/shop/" + type, "", ADMIN).body().at("/dead").asInt()
                    == 1);
  }

  @Test
  void checkedJobsAreMovedByTheKeyboardAloneOnASmallScreen() {
    for (String one : List.of("k1", "k2", "k3")) {
      submit("picked", one, "1h", "");
    }
    as("otto").width(380).open("/console/jobs?q=app:shop+type:picked");
    assertThat(browser.one("#checked").isDisplayed()).isFalse();
    browser.tabToLabel("Check shop/picked/k2");
    browser.press(Keys.SPACE);
    assertThat(browser.text(".picked [role=status]")).isEqualTo("1 checked");
    assertThat(browser.one("#checked").isDisplayed()).isTrue();
    assertThat(browser.overflow()).isLessThanOrEqualTo(0);
    assertThat(browser.unfair()).isEmpty();
    browser.picture("jobs-checked-light-380");
    browser.colours("dark").picture("jobs-checked-dark-380");
    assertThat(browser.unfair()).isEmpty();
    // All, and one of them not.
    browser.click("[data-check-all]");
    assertThat(browser.text(".picked [role=status]")).isEqualTo("3 checked");
    browser.click("h1");
    browser.tabToLabel("Check shop/picked/k2");
    browser.press(Keys.SPACE);
    assertThat(browser.text(".picked [role=status]")).isEqualTo("2 checked");
    assertThat(browser.one("#checked .when").isDisplayed()).isFalse();
    browser.one("#checked select").sendKeys("Reschedule");
    browser.type("#checked input[name=when]", "2035-01-31T12:00:00Z");
    browser.press(Keys.ENTER);
    browser.until(() -> browser.text().contains("2 jobs are checked"));
    assertThat(browser.text("tbody")).contains("k1", "k3").doesNotContain("k2");
    browser.tabTo("Reschedule 2 jobs");
    browser.press(Keys.ENTER);
    browser.until(() -> browser.text("#live").contains("gets the new time"));
    for (String one : List.of("k1", "k3")) {
      assertThat(due("picked", one)).startsWith("2035");
    }
    assertThat(due("picked", "k2")).doesNotStartWith("2035");
  }

  private String due(String taskType, String taskId) {
    return api.call("GET", "/api/v1/jobs/shop/" + taskType + "/" + taskId, "", ADMIN)
        .body()
        .at("/dueAt")
        .asString();
  }

  @Test
  void whatAJobCarriesIsTextAndNothingElse() {
    as("bea");
    String type = "evil." + UUID.randomUUID().toString().substring(0, 6);
    String all = String.join("\n", HOSTILE);
    die(type, "e", all, all);
    ObjectNode inside = JSON.createObjectNode();
    HOSTILE.forEach(text -> inside.put(text, text));
    die(type, "json", inside.toString(), all);
    List<String> pages =
        new ArrayList<>(
            List.of(
                "/console/jobs/shop/" + type + "/e",
                "/console/jobs/shop/" + type + "/json",
                "/console/jobs?q=app:shop+state:dead",
                "/console/dead"));
    for (String text : HOSTILE) {
      pages.add("/console/jobs?q=" + Visitor.encoded(text));
      pages.add("/console/queues?q=" + Visitor.encoded(text));
    }
    for (String page : pages) {
      browser.open(page);
      assertThat(browser.run("return window.hacked")).as(page).isEqualTo("null");
      assertThat(browser.all("main img, main svg, main script, main [onload]")).as(page).isEmpty();
    }
    // What turns text around is shown as what it is.
    String seen = all.replace("\u202E", "\u27E8U+202E\u27E9");
    browser.open("/console/jobs/shop/" + type + "/e");
    assertThat(browser.one("#params").getDomProperty("textContent")).isEqualTo(seen);
    assertThat(browser.one(".story pre").getDomProperty("textContent")).isEqualTo(seen);
    browser.open("/console/jobs/shop/" + type + "/json");
    assertThat(browser.one(".tree").getDomProperty("textContent")).contains(seen.split("\n", -1));
    assertThat(browser.complaints()).noneMatch(line -> line.contains("Content Security Policy"));
  }

  @Test
  void theKeyboardAloneWillDo() {
    String id = fresh();
    submit("keys", id, "1h", "");
    as("otto").open("/console");
    browser.press(Keys.TAB);
    browser.press(Keys.ENTER);
    browser.until(() -> browser.path().endsWith("#content"));
    browser.open("/console");
    browser.tabTo("Jobs");
    browser.press(Keys.ENTER);
    browser.until(() -> browser.path().equals("/console/jobs"));
    browser.click("h1");
    browser.press(Keys.TAB);
    browser.press(id, Keys.ENTER);
    browser.until(() -> browser.all("tbody th a").size() == 1);
    browser.tabTo(id);
    browser.press(Keys.ENTER);
    browser.until(() -> browser.path().endsWith(id));
    browser.tabTo("Run now");
    browser.press(Keys.ENTER);
    browser.until(() -> browser.text("[role=status]").contains("due now"));
  }

  @Test
  void aViewerSeesAllAndIsOfferedNothing() {
    submit("seen", "one", "1h", "");
    as("vera").open("/console/jobs/shop/seen/one");
    assertThat(browser.all("main form")).isEmpty();
    for (String page :
        List.of("/console/queues/shop/seen", "/console/jobs?q=one", "/console/dead")) {
      browser.open(page);
      assertThat(browser.all("main form[method=post], main input[type=checkbox]")).isEmpty();
    }
    assertThat(browser.all("header a")).extracting(a -> a.getText()).doesNotContain("Audit");
  }

  @Test
  void whatElseCanBeDoneStaysInTheLineOfTheActsOnAPhone() {
    submit("menu", "one", "1h", "");
    as("otto").width(390).open("/console/jobs/shop/menu/one");
    WebElement menu = browser.one(".head .menu summary");
    WebElement run = browser.one("form[action$='/run'] button");
    assertThat(Math.abs(menu.getLocation().getY() - run.getLocation().getY()))
        .isLessThanOrEqualTo(4);
    assertThat(menu.getLocation().getX()).isGreaterThan(run.getLocation().getX());
    menu.click();
    assertThat(browser.one("form[action$='/cancel'] button").isDisplayed()).isTrue();
    assertThat(browser.overflow()).isLessThanOrEqualTo(0);
    assertThat(browser.unfair()).isEmpty();
    browser.picture("job-menu-390");
  }

  @Test
  void aPageAsksLessOftenWhileNothingChanges() {
    submit("calm", "one", "1h", "");
    as("vera").open("/console/queues/shop/calm");
    // The queues of other tests may change: that nothing did is made up.
    browser.run(
        """
        const own = Object.getOwnPropertyDescriptor(XMLHttpRequest.prototype, 'status');
        Object.defineProperty(XMLHttpRequest.prototype, 'status', {...own, get: () => 304});
        window.change = () => Object.defineProperty(XMLHttpRequest.prototype, 'status', own);
        const htmx = window.htmx;
        window.asked = [];
        window.htmx = {trigger: (part, event) => {
          if (event === 'refresh') window.asked.push(performance.now());
          htmx.trigger(part, event);
        }};
        """);
    browser.until(() -> browser.run("return window.asked.length > 6").equals("true"));
    assertThat(between(0, 4)).isLessThan(20_000);
    // The answer to the fifth may come after the sixth.
    assertThat(between(5, 6)).isGreaterThan(4_000);
    // Something new: it asks often again.
    browser.run("window.asked = []; window.change()");
    browser.until(() -> browser.run("return window.asked.length > 4").equals("true"));
    assertThat(between(1, 4)).isLessThan(15_000);
  }

  private double between(int one, int other) {
    return Double.parseDouble(
        browser.run("return window.asked[%d] - window.asked[%d]".formatted(other, one)));
  }

  @Test
  void livePartsFollowAndStandStillWhenTold() {
    submit("live", "one", "1h", "");
    as("vera").open("/console/queues/shop/live");
    submit("live", "two", "1h", "");
    browser.until(() -> browser.text(".cards b").equals("2"));
    browser.click("#live-switch");
    assertThat(browser.text("#live-switch")).isEqualTo("Paused");
    browser.run("document.getElementById('live').dataset.mark = 'kept'");
    submit("live", "three", "1h", "");
    Awaitility.await()
        .until(
            () ->
                api.call("GET", "/api/v1/queues/shop/live", "", ADMIN).body().at("/delayed").asInt()
                    == 3);
    browser.click("#live-switch");
    browser.until(() -> browser.text(".cards b").equals("3"));
    // A table that is scrolled aside stays so; on a phone, there is nothing aside.
    browser.width(780).open("/console/queues?q=shop/");
    browser.run(
        "document.querySelector('.scroll').scrollLeft = 20; document.getElementById('live').mark ="
            + " 1; document.querySelector('a[href$=\"shop/live\"]').focus({preventScroll: true})");
    browser.until(() -> browser.run("return document.getElementById('live').mark").equals("null"));
    assertThat(browser.run("return document.activeElement.getAttribute('href')"))
        .isEqualTo("/console/queues/shop/live");
    assertThat(browser.run("return document.querySelector('.scroll').scrollLeft")).isEqualTo("20");
    browser.width(380);
    assertThat(
            browser.run(
                "const t = document.querySelector('.scroll'); return t.scrollWidth -"
                    + " t.clientWidth"))
        .isEqualTo("0");
    assertThat(browser.one("tbody tr").getSize().getHeight()).isLessThan(90);
    browser.picture("queues-380");
  }

  @Test
  void theFocusStaysAtTheSameActOfTheSameRow() {
    String[] types = {"focus.a", "focus.b"};
    for (String type : types) {
      submit(type, "due", "0s", "");
      api.call("POST", "/api/v1/queues/shop/" + type + "/pause", "", ADMIN);
    }
    as("otto").open("/console");
    String[] resumes = {"focus.a/resume", "focus.b/resume"};
    for (String resume : resumes) {
      String form = "form[action$='" + resume + "']";
      browser.until(() -> browser.all(form).size() == 1);
      browser.run(
          "document.getElementById('live').mark = 1; const button = document.querySelector(\""
              + form
              + " button\"); for (let up = button; up; up = up.parentElement) { if (up.tagName ==="
              + " 'DETAILS') up.open = true; } button.focus({preventScroll: true})");
      browser.until(
          () -> browser.run("return document.getElementById('live').mark").equals("null"));
      assertThat(browser.run("return document.activeElement.form.getAttribute('action')"))
          .endsWith(resume);
    }
    for (String type : types) {
      api.call("POST", "/api/v1/queues/shop/" + type + "/resume", "", ADMIN);
    }
  }

  @Test
  void anInstanceThatIsNotReachedIsShownWithTheCure() {
    submit("gone", fresh(), "1h", "");
    as("otto").open("/console/workers");
    browser.until(() -> browser.text("#live").contains("problem"));
    assertThat(browser.text("#live")).contains("shop-gone", "http://127.0.0.1:9", "What to do:");
    browser.click("form[action$='/probe'] button");
    browser.until(() -> browser.text("[role=status]").contains("probed"));
    browser.open("/console/doctor");
    assertThat(browser.text()).contains("redis", "not as they should be");
  }

  @Test
  void theNextRunsFollowWhatIsTyped() {
    as("bea").open("/console/schedules").click("a[href*='/schedules/new']");
    browser.type("input[name=application]", "shop");
    browser.type("input[name=taskType]", "typed");
    browser.type("input[name=id]", "nightly");
    browser.type("input[name=cron]", "30 2 * *");
    browser.until(() -> browser.text("#preview").contains("cron "));
    browser.type("input[name=cron]", "30 2 * * *");
    browser.type("input[name=from]", "2027-03-27T12:00:00Z");
    browser.type("input[name=zone]", "Europe/Berlin");
    browser.until(() -> browser.text("#preview").contains("02:30 does not exist on 2027-03-28"));
    assertThat(browser.unfair()).isEmpty();
    browser.one("select[name=gap]").sendKeys("skip");
    browser.until(() -> browser.text("#preview").contains("was skipped"));
    assertThat(browser.run("return document.activeElement.name")).isEqualTo("gap");
    assertThat(call("GET", "/api/v1/schedules/shop/typed/nightly", "")).isEqualTo(404);
    for (var button : browser.all("form.editor button")) {
      if (button.getText().equals("Save")) {
        button.click();
        break;
      }
    }
    browser.until(() -> browser.path().equals("/console/schedules/shop/typed/nightly"));
    assertThat(browser.text("[role=status]")).contains("is saved");
    browser.click("form[action$='/pause'] button");
    browser.until(() -> browser.text("#live").contains("It is paused."));
    browser.click(".menu summary");
    browser.click("form[action$='/delete'] button");
    browser.accept();
    browser.until(() -> browser.path().equals("/console/schedules"));
    assertThat(call("GET", "/api/v1/schedules/shop/typed/nightly", "")).isEqualTo(404);
    assertThat(browser.complaints()).noneMatch(line -> line.contains("Content Security Policy"));
  }

  @Test
  void keysGoToPagesAndToTheSearchUnlessTheyAreSwitchedOff() {
    as("vera").open("/console");
    browser.press("g", "q");
    browser.until(() -> browser.path().equals("/console/queues"));
    browser.press("/");
    browser.press("gj");
    assertThat(browser.one("#find").getDomProperty("value")).isEqualTo("gj");
    browser.press(Keys.ENTER);
    browser.until(() -> browser.path().startsWith("/console/jobs?q=gj"));
    // Its own search is in view there.
    browser.press("?");
    browser.until(() -> browser.one("#keys").isDisplayed());
    assertThat(browser.text("#keys")).contains("Dead letters").doesNotContain("Audit");
    assertThat(browser.unfair()).isEmpty();
    browser.click("#keys-on");
    browser.click("#keys button");
    browser.press("g", "d");
    browser.press("?");
    assertThat(browser.one("#keys").isDisplayed()).isFalse();
    assertThat(browser.path()).startsWith("/console/jobs");
    browser.click("#keys-show");
    browser.click("#keys-on");
    browser.click("#keys button");
    browser.press("g", "d");
    browser.until(() -> browser.path().equals("/console/dead"));
  }

  @Test
  void theBarsOfTheLoadStandOnTheirLine() {
    submit("bars", fresh(), "30m", "");
    as("vera");
    browser.width(1600).until(() -> !browser.open("/console").all(".plot.load rect").isEmpty());
    String below =
        browser.run(
            "const line = document.querySelector('.plot.load .base').getBoundingClientRect();"
                + " return Math.round(Math.max(...[...document.querySelectorAll('.plot.load rect')]"
                + ".map(bar => bar.getBoundingClientRect().bottom)) - line.bottom)");
    assertThat(Long.parseLong(below)).isLessThanOrEqualTo(1);
    submit("bars.other", fresh(), "20m", "");
    browser.until(() -> browser.open("/console").all(".legend li").size() > 1);
    for (String colours : new String[] {"light", "dark"}) {
      for (int width : new int[] {390, 1440}) {
        browser.width(width).colours(colours);
        assertThat(browser.overflow()).isLessThanOrEqualTo(0);
        assertThat(browser.unfair()).isEmpty();
        browser.run("document.querySelector('.plot.load').scrollIntoView()");
        browser.picture("load-" + colours + "-" + width);
      }
    }
    browser.colours("light");
  }

  @Test
  void theTabShowsWhetherSomethingIsUrgent() {
    submit("unserved", fresh(), "0s", "");
    as("vera").open("/console");
    browser.until(() -> browser.one("h1").getDomAttribute("class").contains("bad"));
    assertThat(browser.one("#icon").getDomAttribute("href")).contains("punctual-bad-");
    browser.open("/console/queues");
    assertThat(browser.one("#icon").getDomAttribute("href")).doesNotContain("bad");
  }

  @Test
  void itSpeaksChinese() {
    as("vera").click("a[hreflang=zh-CN]");
    browser.until(() -> browser.text("nav").contains("死信"));
    browser.open("/console/queues");
    assertThat(browser.text("nav [aria-current]")).isEqualTo("队列");
    assertThat(browser.run("return document.documentElement.lang")).isEqualTo("zh-CN");
    browser.click("a[hreflang=en]");
    browser.until(() -> browser.text("nav [aria-current]").equals("Queues"));
  }

  @Test
  void aPreviewStaysAPreviewInTheOtherLanguageAndWhenLoadedAgain() {
    submit("spoken", "one", "1h", "");
    as("otto").open("/console/jobs?q=app:shop+type:spoken");
    browser.all("summary").stream()
        .filter(summary -> summary.getText().startsWith("Do something"))
        .findFirst()
        .orElseThrow()
        .click();
    browser.click("form[action$='/bulk'] button");
    browser.until(() -> browser.text().contains("1 job matches"));
    browser.click("a[hreflang=zh-CN]");
    browser.until(() -> browser.text().contains("匹配 1 个任务"));
    for (String colours : new String[] {"light", "dark"}) {
      browser.width(380).colours(colours);
      assertThat(browser.overflow()).isLessThanOrEqualTo(0);
      assertThat(browser.unfair()).isEmpty();
      browser.picture("preview-" + colours + "-380");
    }
    browser.click("a[hreflang=en]");
    browser.until(() -> browser.text().contains("1 job matches"));
    browser.open(browser.path());
    browser.click("form[action$='/begin'] button");
    browser.until(() -> browser.text("#live").contains("cancelled"));
  }
}
