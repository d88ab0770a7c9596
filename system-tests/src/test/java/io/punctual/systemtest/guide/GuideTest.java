package io.punctual.systemtest.guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the guide shows is code of this package. */
class GuideTest {

  private static final Path SOURCES = Path.of("src/test/java/io/punctual/systemtest/guide");
  private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

  @Test
  void everyJavaBlockOfTheGuideIsCompiled() throws IOException {
    String sources;
    try (Stream<Path> files = Files.walk(SOURCES)) {
      sources =
          files
              .filter(Files::isRegularFile)
              .sorted()
              .map(GuideTest::read)
              .map(GuideTest::plain)
              .collect(Collectors.joining());
    }
    Matcher blocks = BLOCK.matcher(read(Path.of("../docs/starter.md")));
    int count = 0;
    while (blocks.find()) {
      count++;
      assertThat(sources).contains(plain(blocks.group(1)));
    }
    assertThat(count).isGreaterThan(5);
  }

  @Test
  void aBareApplicationNeedsTenLinesAtMost() throws IOException {
    long lines =
        read(SOURCES.resolve("bare/BareShop.java"))
            .lines()
            .map(String::strip)
            .filter(
                line ->
                    !line.isEmpty() && !line.startsWith("import ") && !line.startsWith("package "))
            .count();
    // Annotation, class, main of three lines, and the end: those are Spring Boot's.
    assertThat(lines - 6).isLessThanOrEqualTo(10);
  }

  private static String plain(String code) {
    return code.replaceAll("\\s+", " ").strip();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
