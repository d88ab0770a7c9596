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

  /** Say a job, a worker, an operator, a program; deliver, cancel, release, acknowledge. */
  private static final Pattern BANNED =
      Pattern.compile(
          "\\b(whoever|somebody|nobody|those who"
              + "|lanes?|doorbells?|endings|finishers?|graves?|journeys?|seals?"
              + "|patients?|triages?|checkups?|examinations?"
              + "|lets? go|letting go|seen to(?! have)|look(s|ed)? after|bears? (it|that|being|to be)"
              + "|tak(e|es|en|ing) back|hand(s|ed|ing)? out)\\b",
          Pattern.CASE_INSENSITIVE);

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
    Path root = ModuleDirectory.root();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            return PASSED.contains(directory.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            String name = root.relativize(file).toString();
            for (String text : texts(name, file)) {
              Matcher banned = BANNED.matcher(text);
              while (banned.find()) {
                found.add(name + ": " + surroundings(text, banned));
              }
            }
            return FileVisitResult.CONTINUE;
          }
        });
    assertThat(found).as("say it in the words of the field").isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Nobody listens", "a lane's end", "it is handed out", "bears being"})
  void aPrivateWordIsFound(String text) {
    assertThat(BANNED.matcher(text).find()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a sealed type", "planes", "be patiently", "was seen to have lost"})
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
            Math.max(0, found.start() - 40), Math.min(text.length(), found.end() + 40))
        .replace('\n', ' ');
  }
}
