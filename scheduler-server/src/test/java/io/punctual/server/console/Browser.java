package io.punctual.server.console;

import com.deque.html.axecore.results.Rule;
import com.deque.html.axecore.selenium.AxeBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.support.ui.WebDriverWait;

/** A real Chromium, without a screen. */
final class Browser implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final ChromeDriver driver;
  private final String base;

  Browser(int port) {
    base = "http://localhost:" + port;
    ChromeOptions options = new ChromeOptions();
    options.setBinary(program("chromium", "chromium-browser", "google-chrome"));
    options.addArguments(
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--lang=en");
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, java.util.logging.Level.ALL);
    options.setCapability("goog:loggingPrefs", logs);
    ChromeDriverService service =
        new ChromeDriverService.Builder()
            .usingDriverExecutable(Path.of(program("chromedriver")).toFile())
            .usingAnyFreePort()
            .build();
    driver = new ChromeDriver(service, options);
  }

  private static String program(String... names) {
    return Stream.of(System.getenv("PATH").split(":", -1))
        .flatMap(directory -> Stream.of(names).map(name -> Path.of(directory, name)))
        .filter(Files::isExecutable)
        .map(Path::toString)
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "the console is tested in a real browser: install the packages chromium and"
                        + " chromium-driver, so that "
                        + String.join(" or ", names)
                        + " is on the PATH"));
  }

  /** Opens a page. */
  Browser open(String path) {
    driver.get(base + path);
    return this;
  }

  Browser logIn(String name) {
    open("/console/login");
    type("input[name=username]", name);
    type("input[name=password]", ConsoleTestBase.PASSWORD);
    click("main form button");
    until(() -> path().equals("/console"));
    return this;
  }

  String path() {
    String url = driver.getCurrentUrl();
    return url == null ? "" : url.substring(base.length());
  }

  String text() {
    return one("main").getText();
  }

  String text(String selector) {
    return one(selector).getText();
  }

  WebElement one(String selector) {
    return driver.findElement(By.cssSelector(selector));
  }

  List<WebElement> all(String selector) {
    return driver.findElements(By.cssSelector(selector));
  }

  void click(String selector) {
    one(selector).click();
  }

  void type(String selector, String text) {
    WebElement field = one(selector);
    field.clear();
    field.sendKeys(text);
  }

  /** Presses keys wherever the focus is. */
  void press(CharSequence... keys) {
    new Actions(driver).sendKeys(keys).perform();
  }

  /** Goes on with the tabulator until what is in focus has this text. */
  void tabTo(String text) {
    tabTo(text, WebElement::getText);
  }

  /** Goes on until what is in focus is read out as this. */
  void tabToLabel(String label) {
    tabTo(label, one -> String.valueOf(one.getAccessibleName()));
  }

  private void tabTo(String text, Function<WebElement, String> of) {
    for (int i = 0; i < 60; i++) {
      press(Keys.TAB);
      if (text.equals(of.apply(driver.switchTo().activeElement()))) {
        return;
      }
    }
    throw new AssertionError("the keyboard does not reach '" + text + "' on " + path());
  }

  void accept() {
    driver.switchTo().alert().accept();
  }

  /** What a script returns, as text. */
  String run(String script) {
    return String.valueOf(((JavascriptExecutor) driver).executeScript(script));
  }

  void until(BooleanSupplier condition) {
    new WebDriverWait(driver, PATIENCE)
        .ignoring(RuntimeException.class)
        .until(any -> condition.getAsBoolean());
  }

  Browser width(int pixels) {
    return size(pixels, 900);
  }

  Browser size(int width, int height) {
    driver.manage().window().setSize(new Dimension(width, height));
    // A window has a least width; the page does not.
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    return this;
  }

  Browser colours(String scheme) {
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    // Colours change little by little: in between nothing is as it will be.
    until(() -> run("return document.getAnimations().length").equals("0"));
    return this;
  }

  /** How much wider than the window the page is; in pixels. */
  long overflow() {
    return Long.parseLong(
        run("return document.documentElement.scrollWidth - document.documentElement.clientWidth"));
  }

  /** Serious findings of the accessibility check. */
  List<String> unfair() {
    return new AxeBuilder()
        .analyze(driver).getViolations().stream()
            .filter(rule -> Set.of("serious", "critical").contains(rule.getImpact()))
            .map(Browser::describe)
            .toList();
  }

  private static String describe(Rule rule) {
    return rule.getId() + ": " + rule.getHelp() + " " + rule.getNodes();
  }

  /** What the browser itself complained of since it was asked last: scripts, policies, answers. */
  List<String> complaints() {
    return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
        .map(LogEntry::toString)
        .toList();
  }

  void picture(String name) {
    Path file = Path.of("target", "pictures", "console-" + name + ".png");
    try {
      Files.createDirectories(file.getParent());
      Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    driver.quit();
  }
}
