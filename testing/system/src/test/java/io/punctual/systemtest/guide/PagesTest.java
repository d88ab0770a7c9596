package io.punctual.systemtest.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.UndoLimits;
import io.punctual.systemtest.ModuleDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the pages show is code that is compiled and run, and what they point to is there. */
class PagesTest {

  private static final Path ROOT = ModuleDirectory.root();
  private static final Path GUIDE = Path.of("src/test/java/io/punctual/systemtest/guide");
  private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final int FIRST_SCREEN = 25;

  /** Pages that are a comparison, a calculator, a map or a list by their nature. */
  private static final Set<String> TABLES =
      Set.of(
          "docs/comparison.md",
          "docs/size.md",
          "docs/architecture.md",
          "CHANGELOG.md",
          "CONTRIBUTING.md",
          "SECURITY.md");

  private static final Pattern ANY_BLOCK =
      Pattern.compile("```(?:java|properties|bash|text)\n(.*?)```", Pattern.DOTALL);
  private static final Pattern CODE = Pattern.compile("```.*?```|`[^`\n]*`", Pattern.DOTALL);
  private static final Pattern LINK = Pattern.compile("]\\(([^)#\\s]*)(#[^)\\s]*)?\\)");
  private static final int MOST_LINES = 250;
  private static final Set<String> NO_PAGES = Set.of("target", "node_modules", ".git");
  private static final Set<String> NOT_IN_THE_SIDEBAR =
      Set.of("README.md", "README.zh.md", "docs/index.md", "docs/zh/index.md");

  @ParameterizedTest
  @CsvSource({
    "README.md, testing/system/src/test/java/io/punctual/systemtest/guide, 1",
    "README.zh.md, testing/system/src/test/java/io/punctual/systemtest/guide, 1",
    "docs/why.md, testing/system/src/test/java/io/punctual/systemtest/guide, 1",
    "docs/first-job.md, testing/system/src/test/java/io/punctual/systemtest/guide, 4",
    "docs/zh/why.md, testing/system/src/test/java/io/punctual/systemtest/guide, 1",
    "docs/zh/first-job.md, testing/system/src/test/java/io/punctual/systemtest/guide, 4",
    "docs/client.md, examples/plain-java/src/main/java"
        + " testing/system/src/test/java/io/punctual/systemtest/guide, 5",
    "docs/send.md, testing/system/src/test/java/io/punctual/systemtest/guide, 6",
    "docs/run.md, testing/system/src/test/java/io/punctual/systemtest/guide, 4",
    "docs/retry.md, testing/system/src/test/java/io/punctual/systemtest/guide, 2",
    "docs/long-work.md, testing/system/src/test/java/io/punctual/systemtest/guide, 4",
    "docs/recurring.md, testing/system/src/test/java/io/punctual/systemtest/guide, 2",
    "docs/windows-events.md, testing/system/src/test/java/io/punctual/systemtest/guide, 2",
    "docs/transactions.md, testing/system/src/test/java/io/punctual/systemtest/guide, 1",
    "docs/java-api.md, testing/system/src/test/java/io/punctual/systemtest/guide, 11",
    "docs/once.md, testing/system/src/test/java/io/punctual/systemtest/guide, 1",
    "docs/starter.md, testing/system/src/test/java/io/punctual/systemtest/guide, 2",
    "docs/modulith.md, examples/modulith-shop/src/main/java, 4",
    "docs/plugin.md, scheduler-plugin-starter/src/test/java, 1",
    "docs/containers.md,"
        + " scheduler-client-starter/src/test/java/io/punctual/spring/client/container, 2",
    "docs/migration.md, scheduler-test/src/test/java/io/punctual/test/docs, 2",
    "docs/migration-cron.md, scheduler-test/src/test/java/io/punctual/test/docs, 5",
    "docs/rabbitmq.md, punctual-amqp/src/test/java/io/punctual/amqp/docs, 7",
    "docs/import-sql.md, testing/benchmarks/src/test/java, 1",
    "docs/test-kit.md, scheduler-test/src/test/java/io/punctual/test/docs, 4",
    "demo-order-service/README.md, demo-order-service/src/main/java, 4",
  })
  void everyJavaBlockIsInTheSources(String page, String sources, int atLeast) throws IOException {
    StringBuilder compiled = new StringBuilder();
    for (String directory : sources.split(" ")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(directory))) {
        files
            .filter(file -> file.toString().endsWith(".java"))
            .sorted()
            .forEach(file -> compiled.append(flat(read(file))).append('\n'));
      }
    }
    List<String> blocks = blocks(BLOCK, read(ROOT.resolve(page)));
    assertThat(blocks)
        .hasSizeGreaterThanOrEqualTo(atLeast)
        .allSatisfy(block -> assertThat(compiled.toString()).contains(flat(block)));
  }

  /** {@code ExamplesIT} runs the programs of these pages. */
  @Test
  void noOtherPageHasProgramsInPython() throws IOException {
    assertThat(pages())
        .filteredOn(page -> read(page).contains("```python"))
        .containsExactlyInAnyOrder(
            ROOT.resolve("docs/callbacks.md"), ROOT.resolve("docs/other-languages.md"));
  }

  @Test
  void thePagesHaveTheFiguresOfAnUndo() {
    long minutes = UndoLimits.TIME.toMinutes();
    assertThat(flat(read(ROOT.resolve("docs/api-many-jobs.md"))))
        .contains(
            "A cancel can be undone for %d minutes".formatted(minutes),
            "its last %,d jobs that were cancelled one by one, and its last %,d that"
                .formatted(UndoLimits.JOBS, UndoLimits.JOBS_OF_OPERATIONS),
            "(%,d bytes, with params".formatted(UndoLimits.BYTES),
            "unless %,d later cancels".formatted(UndoLimits.JOBS));
    assertThat(flat(read(ROOT.resolve("docs/state-machine.md"))))
        .contains(
            "the bucket keeps it for %d minutes".formatted(minutes),
            "more than %,d bytes, the bucket keeps that".formatted(UndoLimits.BYTES),
            "beyond %,d, and beyond %,d that operations"
                .formatted(UndoLimits.JOBS, UndoLimits.JOBS_OF_OPERATIONS));
    assertThat(flat(read(ROOT.resolve("docs/console.md"))))
        .contains(
            "the last %,d jobs that operations cancelled".formatted(UndoLimits.JOBS_OF_OPERATIONS));
  }

  /** Both drawings of the states name the same scripts; the page describes each of them. */
  @ParameterizedTest
  @ValueSource(strings = {"light", "dark"})
  void theDrawingNamesTheScriptsOfThePage(String kind) {
    String page = read(ROOT.resolve("docs/state-machine.md"));
    Set<String> named =
        Pattern.compile("<text class=\"m[^>]*>([^<]+)</text>")
            .matcher(read(ROOT.resolve("docs/images/states-%s.svg".formatted(kind))))
            .results()
            .flatMap(found -> Stream.of(found.group(1).split(", ")))
            .collect(Collectors.toSet());
    assertThat(named)
        .containsExactlyInAnyOrder(
            "submit", "claim", "settle", "expire", "lapse", "cancel", "restore", "requeue", "purge")
        .allSatisfy(
            script -> {
              assertThat(ModuleDirectory.of("scheduler-core").resolve("src/main/lua"))
                  .isDirectoryContaining("glob:**/" + script + ".lua");
              assertThat(page).contains("**" + script + "**");
            });
  }

  @ParameterizedTest
  @MethodSource("pages")
  void whatAPagePointsToIsThere(Path page) {
    List<String> missing = new ArrayList<>();
    Matcher links = LINK.matcher(CODE.matcher(read(page)).replaceAll(""));
    while (links.find()) {
      String target = links.group(1);
      if (target.contains(":")) {
        continue; // another site
      }
      Path file = target.isEmpty() ? page : page.resolveSibling(target);
      if (!Files.exists(file)) {
        missing.add(target);
      } else if (links.group(2) != null
          && file.toString().endsWith(".md")
          && !headings(file).contains(links.group(2).substring(1))) {
        missing.add(target + links.group(2));
      }
    }
    assertThat(missing).isEmpty();
  }

  /** The worked examples: a module and its files in the first column, or a page. */
  @Test
  void theFilesThatAContributorIsSentToAreThere() throws IOException {
    Matcher files =
        Pattern.compile("`([a-z-]+)`(?: tests)?: (`[^`|]+`(?:, `[^`|]+`)*)")
            .matcher(
                read(ROOT.resolve("CONTRIBUTING.md"))
                    .lines()
                    .filter(line -> line.startsWith("|"))
                    .collect(Collectors.joining("\n")));
    int found = 0;
    while (files.find()) {
      List<String> all;
      try (Stream<Path> walk = Files.walk(ModuleDirectory.of(files.group(1)).resolve("src"))) {
        all = walk.map(Path::toString).toList();
      }
      for (String name : files.group(2).replace("`", "").split(", ")) {
        found++;
        assertThat(all)
            .as(files.group())
            .anyMatch(file -> file.endsWith("/" + name) || file.endsWith("/" + name + ".java"));
      }
    }
    assertThat(found).isGreaterThan(40);
  }

  /** What a newcomer types and sees is the same in both languages. */
  @ParameterizedTest
  @CsvSource({
    "README.md, README.zh.md",
    "docs/quickstart.md, docs/zh/quickstart.md",
    "docs/first-job.md, docs/zh/first-job.md",
    "docs/choose.md, docs/zh/choose.md"
  })
  void theChinesePageHasTheSameBlocks(String english, String chinese) {
    List<String> blocks = blocks(ANY_BLOCK, read(ROOT.resolve(english)));
    assertThat(blocks).isNotEmpty();
    assertThat(blocks(ANY_BLOCK, read(ROOT.resolve(chinese)))).isEqualTo(blocks);
  }

  @ParameterizedTest
  @ValueSource(strings = {"README.md", "README.zh.md"})
  void theReadmeIsReadInOneGo(String readme) {
    assertThat(read(ROOT.resolve(readme)).lines().count()).isLessThanOrEqualTo(120);
  }

  /** Longer pages are split by subject. The lists of changes and of rules for changes are none. */
  @Test
  void noPageIsLongerThanAReaderScrolls() throws IOException {
    assertThat(pages())
        .filteredOn(page -> page.startsWith(ROOT.resolve("docs")))
        .allSatisfy(
            page ->
                assertThat(read(page).lines().count())
                    .as(page.toString())
                    .isLessThanOrEqualTo(MOST_LINES));
  }

  /** A page begins with what a reader can run, or with a picture of what it is about. */
  @Test
  void thereIsSomethingToRunOnTheFirstScreenOfAPage() throws IOException {
    assertThat(sidebar())
        .filteredOn(page -> !TABLES.contains(page))
        .allSatisfy(
            page ->
                assertThat(read(ROOT.resolve(page)).lines().limit(FIRST_SCREEN))
                    .as(page)
                    .anyMatch(line -> line.matches("(```|<picture>|!\\[).*")));
  }

  /** A new measurement changes all of them. */
  @ParameterizedTest
  @ValueSource(strings = {"README.md", "README.zh.md", "docs/comparison.md"})
  void figuresAreThoseOfThePerformancePage(String page) {
    String performance = read(ROOT.resolve("docs/performance.md"));
    List<String> figures =
        Pattern.compile(
                "(?m)^\\| (?:Punctual|Redisson|BullMQ|db-scheduler|JobRunr)[^|]*"
                    + "((?:\\| [0-9.,]+(?: ms)? )+)\\|$")
            .matcher(read(ROOT.resolve(page)))
            .results()
            .flatMap(row -> Stream.of(row.group(1).split("\\|")))
            .map(figure -> figure.replace(" ms", "").strip())
            .filter(figure -> !figure.isEmpty())
            .toList();
    assertThat(figures).hasSizeGreaterThanOrEqualTo(15);
    assertThat(figures)
        .allSatisfy(figure -> assertThat(performance).containsPattern("\\| " + figure + "[ |]"));
  }

  /** The site lists decisions by itself. The READMEs are its front door elsewhere. */
  @Test
  void eachPageStandsOnceInTheSidebar() throws IOException {
    List<String> pages =
        pages().stream()
            .map(page -> ROOT.relativize(page).toString())
            .filter(page -> !page.startsWith("docs/adr/") && !NOT_IN_THE_SIDEBAR.contains(page))
            .toList();
    assertThat(sidebar()).containsExactlyInAnyOrderElementsOf(pages);
  }

  private static List<String> sidebar() {
    return Pattern.compile("\"([^\"]+\\.md)\"")
        .matcher(read(ROOT.resolve("docs/.vitepress/sidebar.json")))
        .results()
        .map(found -> found.group(1))
        .toList();
  }

  @Test
  void aBareApplicationNeedsTenLinesAtMost() {
    long lines =
        read(GUIDE.resolve("first/FirstShop.java"))
            .lines()
            .map(String::strip)
            .filter(
                line ->
                    !line.isEmpty() && !line.startsWith("import ") && !line.startsWith("package "))
            .count();
    // Annotation, class, main of three lines, and the end: those are Spring Boot's.
    assertThat(lines - 6).isLessThanOrEqualTo(10);
  }

  static List<Path> pages() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT, 4)) {
      return files
          .filter(file -> file.toString().endsWith(".md"))
          .filter(file -> Stream.of(file.toString().split("/")).noneMatch(NO_PAGES::contains))
          .sorted()
          .toList();
    }
  }

  /** The anchors of a page's headings, made as the usual viewers of Markdown make them. */
  private static Set<String> headings(Path page) {
    return read(page)
        .lines()
        .filter(line -> line.startsWith("#"))
        .map(line -> line.replaceFirst("^#+\\s+", ""))
        .map(line -> line.replaceAll("]\\([^)]*\\)", "").toLowerCase(Locale.ROOT))
        .map(line -> line.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  private static List<String> blocks(Pattern kind, String page) {
    return kind.matcher(page)
        .results()
        .map(found -> found.group(1))
        // That of other libraries.
        .filter(block -> !block.startsWith("// before"))
        .toList();
  }

  /** One space for each run of white space: pages and sources break lines differently. */
  static String flat(String code) {
    return code.replaceAll("\\s+", " ").strip();
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
