package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The texts of the console, in both languages. */
class ConsoleTextsTest {

  private static final Path CONSOLE = Path.of("src/main/resources/io/punctual/server/console");
  private static final Pattern KEY = Pattern.compile("#\\{([a-z][\\w.]*)[}(]");

  @Test
  void eachTextIsInBothLanguages() throws IOException {
    assertThat(keys("messages_zh_CN.properties")).isEqualTo(keys("messages.properties"));
  }

  @Test
  void eachTextThatAPageAsksForIsThere() throws IOException {
    Set<String> asked = new TreeSet<>();
    try (Stream<Path> pages = Files.list(CONSOLE.resolve("pages"))) {
      for (Path page : pages.toList()) {
        KEY.matcher(Files.readString(page)).results().forEach(key -> asked.add(key.group(1)));
      }
    }
    assertThat(asked).hasSizeGreaterThan(100);
    assertThat(keys("messages.properties")).containsAll(asked);
  }

  private static Set<String> keys(String file) throws IOException {
    Properties texts = new Properties();
    try (Reader reader = Files.newBufferedReader(CONSOLE.resolve(file))) {
      texts.load(reader);
    }
    return texts.stringPropertyNames();
  }
}
