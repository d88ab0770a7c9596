package io.punctual.test.browser;

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

/**
 * A real Chromium, without a screen. For one thread. What is looked for and not there throws;
 * {@link #until} waits for it.
 */
public final class Browser implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final ChromeDriver driver;
  private final String base;
  private final String name;

  /**
   * Starts it.
   *
   * @param base what paths are added to, such as {@code http://localhost:8080}
   * @param name before the names of its pictures
   */
  public Browser(String base, String name) {
    this.base = base;
    this.name = name;
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
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
        .flatMap(directory -> Stream.of(names).map(name -> Path.of(directory, name)))
        .filter(Files::isExecutable)
        .map(Path::toString)
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "pages are tested in a real browser: install the packages chromium and"
                        + " chromium-driver, so that "
                        + String.join(" or ", names)
                        + " is on the PATH"));
  }

  /** Opens a page. */
  public Browser open(String path) {
    driver.get(base + path);
    return this;
  }

  /** Path and query of the page that is open, below the base. */
  public String path() {
    String url = driver.getCurrentUrl();
    return url == null ? "" : url.substring(base.length());
  }

  /** The text of the page's main part. */
  public String text() {
    return one("main").getText();
  }

  /** The text of the first one. */
  public String text(String selector) {
    return one(selector).getText();
  }

  /** The first one. */
  public WebElement one(String selector) {
    return driver.findElement(By.cssSelector(selector));
  }

  /** All of them; none is an empty list. */
  public List<WebElement> all(String selector) {
    return driver.findElements(By.cssSelector(selector));
  }

  /** Clicks the first one. */
  public void click(String selector) {
    one(selector).click();
  }

  /** Puts a text into the field in place of what is there. */
  public void type(String selector, String text) {
    WebElement field = one(selector);
    field.clear();
    field.sendKeys(text);
  }

  /** Presses keys wherever the focus is. */
  public void press(CharSequence... keys) {
    new Actions(driver).sendKeys(keys).perform();
  }

  /** Goes on with the tabulator until what is in focus has this text. */
  public void tabTo(String text) {
    tabTo(text, WebElement::getText);
  }

  /** Goes on until what is in focus is read out as this. */
  public void tabToLabel(String label) {
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

  /** Says yes to what the browser asks. */
  public void accept() {
    driver.switchTo().alert().accept();
  }

  /** What a script returns, as text. */
  public String run(String script) {
    return String.valueOf(((JavascriptExecutor) driver).executeScript(script));
  }

  /** Waits until it is so; what it throws counts as not yet. */
  public void until(BooleanSupplier condition) {
    new WebDriverWait(driver, PATIENCE)
        .ignoring(RuntimeException.class)
        .until(any -> condition.getAsBoolean());
  }

  /** Makes window and page that wide. */
  public Browser width(int pixels) {
    return size(pixels, 900);
  }

  /** Makes window and page that large. */
  public Browser size(int width, int height) {
    driver.manage().window().setSize(new Dimension(width, height));
    // A window has a least width; the page does not.
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    return this;
  }

  /** Lets the page be seen in {@code light} or {@code dark}. */
  public Browser colours(String scheme) {
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    // Colours change little by little: in between nothing is as it will be.
    until(() -> run("return document.getAnimations().length").equals("0"));
    return this;
  }

  /** How much wider than the window the page is; in pixels. */
  public long overflow() {
    return Long.parseLong(
        run("return document.documentElement.scrollWidth - document.documentElement.clientWidth"));
  }

  /** Serious findings of the accessibility check. */
  public List<String> unfair() {
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
  public List<String> complaints() {
    return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
        .map(LogEntry::toString)
        .toList();
  }

  /** Writes what is to be seen to {@code target/pictures}. */
  public void picture(String what) {
    Path file = Path.of("target", "pictures", name + "-" + what + ".png");
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
