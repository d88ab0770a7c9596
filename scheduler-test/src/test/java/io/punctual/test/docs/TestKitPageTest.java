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
import org.junit.jupiter.api.Test;

/** The properties of docs/test-kit.md; its code stands, and runs, in the tests of this package. */
class TestKitPageTest {

  private static final Path PAGE = Path.of("../docs/test-kit.md");

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
}
