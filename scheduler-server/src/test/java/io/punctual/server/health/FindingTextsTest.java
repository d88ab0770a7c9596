package io.punctual.server.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.health.Finding.Code;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;

class FindingTextsTest {

  // Of the checks that have values of their own.
  private static final List<String> VALUES =
      List.of(
          "detail",
          "remedy",
          "hint",
          "application",
          "queue",
          "queues",
          "address",
          "addresses",
          "setting",
          "seconds",
          "durability",
          "ms",
          "side",
          "well",
          "all",
          "instance",
          "percent",
          "ended",
          "median",
          "code",
          "duty");

  @Test
  void eachPlaceholderHasAValueAndEachCodeAMessage() throws IOException {
    Properties texts =
        PropertiesLoaderUtils.loadProperties(
            new ClassPathResource("findings.properties", Finding.class));
    Set<String> known = new HashSet<>(texts.stringPropertyNames());
    assertThat(Arrays.stream(Code.values()).map(Code::word))
        .allMatch(
            code ->
                known.contains(code + ".message")
                    || known.stream().anyMatch(key -> key.matches(code + "\\.[a-z]+\\.message")));
    known.addAll(VALUES);
    for (Object text : texts.values()) {
      assertThat(Pattern.compile("\\{([^}]*)}").matcher(text.toString()).results())
          .allMatch(found -> known.contains(found.group(1)), text.toString());
    }
  }
}
