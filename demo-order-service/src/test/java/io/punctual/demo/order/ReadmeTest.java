package io.punctual.demo.order;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the shop's README shows is its code, and what it points to is there. */
class ReadmeTest {

  private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final Pattern LINK = Pattern.compile("]\\((src/[^)]+)\\)");

  @Test
  void everyJavaBlockIsInTheSources() throws IOException {
    String sources;
    try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
      sources =
          files
              .filter(Files::isRegularFile)
              .map(ReadmeTest::read)
              .map(ReadmeTest::plain)
              .collect(Collectors.joining());
    }
    Matcher blocks = BLOCK.matcher(read(Path.of("README.md")));
    int count = 0;
    while (blocks.find()) {
      count++;
      assertThat(sources).contains(plain(blocks.group(1)));
    }
    assertThat(count).isGreaterThan(3);
  }

  @Test
  void everyFileItPointsToIsThere() {
    Matcher links = LINK.matcher(read(Path.of("README.md")));
    int count = 0;
    while (links.find()) {
      count++;
      assertThat(Path.of(links.group(1))).isRegularFile();
    }
    assertThat(count).isGreaterThan(5);
  }

  private static String plain(String code) {
    return code.replaceAll("\\s+", " ").strip();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
