package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.DIRECTORY;
import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.test.browser.Browser;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The page of the demo shop as people meet it: in Chromium, on the whole system. */
@Tag("full")
class ShopPageIT {

  private static final List<String> HOSTILE =
      List.of(
          "<img src=x onerror=\"window.hacked=1\">",
          "</script><script>window.hacked=1</script>",
          "\"><svg onload=window.hacked=1>",
          "' onfocus='window.hacked=1' autofocus='");

  private static final JsonMapper JSON = JsonMapper.shared();

  private static JavaProcess scheduler;
  private static JavaProcess shop;
  private static Browser browser;

  @BeforeAll
  static void start() {
    scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "shop-page").start().awaitReady();
    // Of a name of its own: other tests have shops, too.
    shop =
        PROGRAMS
            .demo(
                REGISTRY,
                "--spring.application.name=shop-page",
                "--punctual.url=" + scheduler.url(),
                "--management.endpoints.web.exposure.include=health,punctual",
                "--punctual.callback.accept-unsigned=true")
            .start()
            .awaitReady();
    browser = new Browser(shop.url(), "shop");
  }

  @AfterAll
  static void stop() {
    browser.close();
    shop.close();
    scheduler.close();
  }

  @BeforeEach
  void open() throws Exception {
    assertThat(ShopIT.partner(shop, "FLAKY").status()).isEqualTo(200);
    browser.width(1200).colours("light").open("/");
    browser.until(() -> browser.all("#items label").size() == 3);
  }

  /** Orders by mouse; answers where the order stands on the page. */
  private static String order(String item, String note, String seconds) {
    List<String> before = ids();
    browser.click("#items input[value='" + item + "']");
    browser.type("input[name=note]", note);
    browser.click("select[name=seconds] option[value='" + seconds + "']");
    browser.click("#order button");
    browser.until(() -> ids().size() > before.size());
    String id = ids().getFirst();
    assertThat(before).doesNotContain(id);
    return "#orders li[data-id='" + id + "'] ";
  }

  private static String partner() throws IOException {
    return Http.get(shop.url() + "/shop").json().get("partner").stringValue();
  }

  private static List<String> ids() {
    return browser.all("#orders li").stream().map(row -> row.getDomAttribute("data-id")).toList();
  }

  private static String left(String item) {
    return browser.text("#items label[data-name='" + item + "'] .left");
  }

  /** What the last of these calls answers, in a shell, on this shop. */
  private static JsonNode answer(String calls) throws IOException {
    return JSON.readTree(
        ExampleProgram.shell(
                DIRECTORY,
                Map.of(),
                calls
                    .replace("localhost:8080", address(scheduler))
                    .replace("localhost:8081", address(shop))
                    .replace("order-service", "shop-page"))
            .getLast());
  }

  private static String address(JavaProcess program) {
    return program.url().substring("http://".length());
  }

  @Test
  void theCallsOfTheQuickstartsPageSucceed() throws Exception {
    String page = Files.readString(ModuleDirectory.root().resolve("docs/quickstart.md"));
    String order =
        answer(MarkdownPage.of("docs/quickstart.md").blocks("Try it", "bash").get(0))
            .get("id")
            .stringValue();
    List<String> calls =
        Pattern.compile("\\| `(curl [^`]+)` \\|")
            .matcher(page)
            .results()
            .map(call -> call.group(1).replace("ID", order))
            .toList();
    assertThat(calls).hasSize(2);
    Waiting.until(
        "the outbox has sent its job",
        () ->
            Http.get(scheduler.url() + "/api/v1/jobs/shop-page/order.close/" + order).status()
                == 200);
    assertThat(answer(calls.get(0)).get("state").stringValue()).isEqualTo("delayed");
    assertThat(answer(calls.get(1)).get("status").stringValue()).isEqualTo("PAID");
  }

  @Test
  void theCallsOfTheShopsPageSucceed() throws Exception {
    List<String> calls =
        MarkdownPage.of("demo-order-service/README.md")
            .blocks("Its API", "bash")
            .get(0)
            .lines()
            .toList();
    String order = answer(calls.get(0)).get("id").stringValue();
    assertThat(answer(calls.get(1).replace("ID", order)).get("id").stringValue()).isEqualTo(order);
    assertThat(answer(calls.get(2).replace("ID", order)).get("status").stringValue())
        .isEqualTo("PAID");
    assertThat(answer(calls.get(3)).get("mode").stringValue()).isEqualTo("DOWN");
  }

  @Test
  void theEndpointAnswersAsThePageShows() throws Exception {
    JsonNode shown =
        JSON.readTree(
            MarkdownPage.of("docs/starter.md").blocks("Endpoint and health", "json").get(0));
    Waiting.until(
        "a scheduler has probed the shop",
        () -> Http.get(shop.url() + "/actuator/punctual").json().hasNonNull("reach"));
    JsonNode seen =
        answer(
            MarkdownPage.of("docs/works-with.md").blocks("Supported applications", "bash").get(0));
    assertThat(seen.propertyNames()).containsExactlyElementsOf(shown.propertyNames());
    assertThat(seen.at("/reach").propertyNames())
        .containsExactlyElementsOf(shown.at("/reach").propertyNames());
    assertThat(seen.at("/taskTypes/order.close").propertyNames())
        .containsExactlyElementsOf(shown.at("/taskTypes/payment.check").propertyNames());
    assertThat(seen.at("/schedulers/0").propertyNames())
        .containsExactlyElementsOf(shown.at("/schedulers/0").propertyNames());
  }

  @Test
  void anOrderThatNobodyPaysCountsDownIsRemindedOfClosesAndGoesBackOnSale() {
    assertThat(left("teapot")).isEqualTo("3 left");
    String row = order("teapot", "", "10");
    browser.until(() -> left("teapot").equals("2 left"));
    Pattern countdown = Pattern.compile("0:(0\\d|10) left to pay");
    String seen = browser.text(row + ".more");
    assertThat(seen).matches(countdown);
    browser.until(() -> !browser.text(row + ".more").equals(seen));
    browser.until(() -> browser.text(row + ".tag").equals("reminded"));
    browser.until(() -> browser.text(row + ".tag").equals("closed"));
    assertThat(browser.text(row + ".more")).isEqualTo("not paid in time, so it is on sale again");
    assertThat(browser.one(row + ".pay").isDisplayed()).isFalse();
    browser.until(() -> left("teapot").equals("3 left"));
    browser.until(
        () -> (browser.one("#news").getDomProperty("textContent") + "").contains(": closed"));
  }

  @Test
  void anOrderIsPaidAndThePartnerIsToldUntilItTakesIt() throws Exception {
    String row = order("cake", "a candle, please", "120");
    assertThat(browser.text(row + ".note")).isEqualTo("a candle, please");
    browser.click(row + ".pay");
    browser.until(() -> browser.text(row + ".tag").equals("paid"));
    browser.until(() -> browser.text(row + ".more").startsWith("the partner took it at"));

    browser.click("#modes input[value=DOWN]");
    Waiting.until("it is away", () -> partner().equals("DOWN"));
    String later = order("cake", "", "120");
    browser.click(later + ".pay");
    browser.until(() -> browser.text(later + ".more").equals("told 3 times, not taken yet"));
    browser.click("#modes input[value=UP]");
    Waiting.until("it is back", () -> partner().equals("UP"));
    String job = scheduler.url() + "/api/v1/jobs/shop-page/payment.notify/" + ids().getFirst();
    Waiting.until("it is told now", () -> Http.post(job + "/run", "{}").status() == 200);
    browser.until(() -> browser.text(later + ".more").equals("the partner took it at attempt 4"));
  }

  @Test
  void whatIsSoldOutIsSaidInWords() {
    browser.until(() -> left("teapot").equals("3 left"));
    List<String> rows =
        List.of(order("teapot", "", "30"), order("teapot", "", "30"), order("teapot", "", "30"));
    browser.until(() -> left("teapot").equals("sold out"));
    browser.click("#items input[value=teapot]");
    browser.click("#order button");
    browser.until(() -> browser.text("#trouble").contains("there is no teapot left"));
    // The browser tells of each answer that is not a success.
    assertThat(browser.complaints()).allMatch(line -> line.contains("409"));
    for (String row : rows) {
      browser.until(() -> browser.text(row + ".tag").equals("closed"));
    }
    browser.until(() -> left("teapot").equals("3 left"));
  }

  @Test
  void whatCustomersWriteIsTextAndNothingElse() throws Exception {
    for (String note : HOSTILE) {
      assertThat(
              Http.post(
                      shop.url() + "/orders",
                      JsonMapper.shared().writeValueAsString(Map.of("item", "tea", "note", note)))
                  .status())
          .isEqualTo(201);
    }
    browser.open("/");
    browser.until(() -> browser.all("#orders li").size() >= HOSTILE.size());
    String byHand = order("tea", HOSTILE.getFirst(), "120");
    assertThat(browser.text(byHand + ".note")).isEqualTo(HOSTILE.getFirst());
    assertThat(browser.all(".note").stream().map(note -> note.getText())).containsAll(HOSTILE);
    assertThat(browser.run("return window.hacked")).isEqualTo("null");
    assertThat(browser.all("main img, main svg, main script, main [onload], main [onfocus]"))
        .isEmpty();
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void itFitsIsFairAndBreaksNoRule() {
    assertThat(browser.complaints()).isNotNull();
    String open = order("tea", "x".repeat(100), "120");
    String paid = order("cake", "no plate", "120");
    browser.click(paid + ".pay");
    browser.until(() -> browser.text(paid + ".tag").equals("paid"));
    for (int width : new int[] {380, 1200}) {
      for (String colours : new String[] {"light", "dark"}) {
        browser.width(width).colours(colours).open("/");
        browser.until(() -> browser.one(open + ".pay").isDisplayed());
        assertThat(browser.overflow()).as("%s, %d", colours, width).isLessThanOrEqualTo(0);
        assertThat(browser.unfair()).as("%s, %d", colours, width).isEmpty();
        browser.picture(colours + "-" + width);
      }
    }
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void theKeyboardAloneWillDoOnASmallScreen() {
    browser.width(380).open("/");
    browser.until(() -> browser.all("#items label").size() == 3);
    List<String> before = ids();
    browser.click("h1");
    // The radio button, the note, the time.
    browser.press(Keys.TAB, Keys.TAB);
    browser.press("by keys", Keys.TAB, "2", Keys.TAB, Keys.ENTER);
    browser.until(() -> ids().size() > before.size());
    String id = ids().getFirst();
    String row = "#orders li[data-id='" + id + "'] ";
    assertThat(browser.text(row + ".note")).isEqualTo("by keys");
    browser.tabToLabel("Pay " + browser.text(row + ".item") + ", order " + id);
    browser.press(Keys.ENTER);
    browser.until(() -> browser.text(row + ".tag").equals("paid"));
  }

  @Test
  void aShopThatIsGoneIsSaidAndFoundAgain() {
    shop.suspend();
    try {
      browser.until(() -> browser.text("#trouble").contains("does not answer"));
    } finally {
      shop.resume();
    }
    browser.until(() -> !browser.one("#trouble").isDisplayed());
    assertThat(browser.complaints()).allMatch(line -> line.contains("ERR_"));
  }
}
