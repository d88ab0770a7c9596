package io.punctual.test.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.test.spring.PunctualTestProperties;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The code of docs/test-kit.md stands, and runs, in the tests of this package. */
class TestKitPageTest {

  private static final Path PAGE = Path.of("../docs/test-kit.md");
  private static final Path SOURCES = Path.of("src/test/java/io/punctual/test/docs");

  @Test
  void itsCodeIsTested() throws IOException {
    StringBuilder tested = new StringBuilder();
    try (Stream<Path> files = Files.list(SOURCES)) {
      for (Path file : files.sorted().toList()) {
        tested.append(flat(Files.readString(file))).append('\n');
      }
    }
    List<String> blocks = new ArrayList<>();
    Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(page());
    while (block.find()) {
      blocks.add(flat(block.group(1)));
    }
    assertThat(blocks).hasSizeGreaterThan(3);
    assertThat(blocks).allSatisfy(code -> assertThat(tested.toString()).contains(code));
  }

  @Test
  void itHasAllProperties() throws IOException {
    List<String> named = new ArrayList<>();
    Matcher row = Pattern.compile("(?m)^\\| `punctual\\.test\\.([a-z-]+)`").matcher(page());
    while (row.find()) {
      named.add(row.group(1));
    }
    assertThat(named)
        .containsExactlyElementsOf(
            Arrays.stream(PunctualTestProperties.class.getRecordComponents())
                .map(RecordComponent::getName)
                .map(name -> name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT))
                .toList());
  }

  private static String page() throws IOException {
    return Files.readString(PAGE);
  }

  private static String flat(String code) {
    return code.replaceAll("\\s+", " ").strip();
  }
}
