package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Messages and documentation name programs and people, in the terms of the field. Decisions (ADR)
 * tell history, and Javadoc and comments are read beside their code: neither is looked at.
 */
class PlainWordsTest {

  private static final Path ROOT = ModuleDirectory.root();

  /** Say a job, a worker, an operator, a program; deliver, cancel, release, acknowledge. */
  private static final Pattern BANNED =
      Pattern.compile(
          "\\b(whoever|somebody|nobody|those who"
              + "|lanes?|doorbells?|endings|finishers?|graves?|journeys?|seals?"
              + "|patients?|triages?|checkups?|examinations?"
              + "|lets? go|letting go|seen to(?! have)|look(s|ed)? after|bears? (it|that|being|to be)"
              + "|tak(e|es|en|ing) back|hand(s|ed|ing)? out"
              + "|c(omes?|oming|ame) again|push(es|ed|ing)? again|giv(es?|en|ing) way|gave way"
              + "|turn(s|ed|ing)? away|h(olds?|olding|eld) up|stands? on"
              + "|who (he|she) is|without (losing an attempt|a word)|takes? nothing"
              + "|(must|can|may) bear)\\b",
          Pattern.CASE_INSENSITIVE);

  /** A heading is a task or a thing: "Cancel a job", "Results", and no clause. */
  private static final Pattern CLAUSE =
      Pattern.compile(
          "^#+ (what|who|whoever|where|to be|good to|on time|goes on|it|that|nobody)\\b.*",
          Pattern.CASE_INSENSITIVE);

  private static final Pattern CODE = Pattern.compile("(?ms)^ *(```+|~~~+).*?^ *\\1`*$");

  /** Comments, texts, and characters, so that a quote in one is none of another. */
  private static final Pattern JAVA =
      Pattern.compile(
          "//[^\\n]*|(?s:/\\*.*?\\*/)|\"\"\"(?s:(.*?))\"\"\"|\"((?:[^\"\\\\\\n]++|\\\\.)*+)\""
              + "|'(?:[^'\\\\]|\\\\.)+'");

  /** The outbox has a column {@code lane}. */
  private static final Pattern SQL =
      Pattern.compile("application = \\?|punctual_(outbox|sent)|select id,");

  private static final Set<String> PASSED = Set.of("target", "node_modules", ".git", "adr");
  private static final Set<String> TEXTS =
      Set.of("html", "js", "properties", "yaml", "yml", "json");

  @Test
  void messagesAndPagesHaveNoPrivateWords() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : files(PASSED)) {
      String name = ROOT.relativize(file).toString();
      for (String lines : texts(name, file)) {
        String text = lines.replaceAll("\\s+", " ");
        Matcher banned = BANNED.matcher(text);
        while (banned.find()) {
          found.add(name + ": " + surroundings(text, banned));
        }
      }
    }
    assertThat(found).as("say it in the words of the field").isEmpty();
  }

  /** All files but those in directories with these names. */
  static List<Path> files(Set<String> passed) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            return passed.contains(directory.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            files.add(file);
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }

  @Test
  void headingsAreTasksOrThings() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path page : files(PASSED)) {
      String name = ROOT.relativize(page).toString();
      // Its headings change with the next measurement.
      if (name.endsWith(".md") && !name.equals("docs/performance.md")) {
        CODE.matcher(Files.readString(page))
            .replaceAll("")
            .lines()
            .filter(line -> CLAUSE.matcher(line).matches())
            .forEach(line -> found.add(name + ": " + line));
      }
    }
    assertThat(found).as("name the task or the thing").isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"## What they answer", "### Who may use it", "# On time"})
  void aClauseIsNoHeading(String line) {
    assertThat(CLAUSE.matcher(line).matches()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"## Results", "## When a scheduler dies", "Who asks?", "# Itemise"})
  void aTaskOrAThingIs(String line) {
    assertThat(CLAUSE.matcher(line).matches()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Nobody listens",
        "a lane's end",
        "it is handed out",
        "bears being",
        "the job comes again",
        "it is held up",
        "jobs wait, without losing an attempt"
      })
  void aPrivateWordIsFound(String text) {
    assertThat(BANNED.matcher(text).find()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a sealed type",
        "planes",
        "be patiently",
        "was seen to have lost",
        "wait, and lose no attempt"
      })
  void ordinaryEnglishIsNot(String text) {
    assertThat(BANNED.matcher(text).find()).isFalse();
  }

  @Test
  void onlyTheTextsOfACodeAreRead() {
    String code =
        """
        // "not this" '"'
        log.info("a \\"b\\"", '"', x); /* "nor this" */ y("c");
        """;
    assertThat(literals(code)).containsExactly("a \\\"b\\\"", "c");
  }

  /** What of a file is a message or a page. */
  private static List<String> texts(String name, Path file) throws IOException {
    if (name.endsWith(".md")) {
      String page = Files.readString(file);
      int released = page.indexOf("\n## [");
      boolean changes = name.equals("CHANGELOG.md") && released >= 0;
      return List.of(changes ? page.substring(0, released) : page);
    } else if (name.startsWith("testing/") || !name.contains("src/main/")) {
      return List.of();
    } else if (name.endsWith(".java")) {
      return literals(Files.readString(file));
    }
    return TEXTS.contains(name.substring(name.lastIndexOf('.') + 1))
        ? List.of(Files.readString(file))
        : List.of();
  }

  private static List<String> literals(String code) {
    List<String> literals = new ArrayList<>();
    Matcher token = JAVA.matcher(code);
    while (token.find()) {
      String text = token.group(1) == null ? token.group(2) : token.group(1);
      if (text != null && !SQL.matcher(text).find()) {
        literals.add(text);
      }
    }
    return literals;
  }

  private static String surroundings(String text, Matcher found) {
    return text.substring(
        Math.max(0, found.start() - 40), Math.min(text.length(), found.end() + 40));
  }
}
