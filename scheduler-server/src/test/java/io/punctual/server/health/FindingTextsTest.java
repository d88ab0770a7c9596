package io.punctual.server.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.health.Finding.Code;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.EncodedResource;
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
          "failing",
          "instance",
          "percent",
          "ended",
          "median",
          "code",
          "duty",
          "some",
          "count",
          "type",
          "near",
          "minutes",
          "often",
          "most",
          "error",
          "place",
          "release");

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

  @ParameterizedTest
  @CsvSource({
    "io.punctual.server.health.Finding, findings",
    "io.punctual.server.probe.ProbeDiagnosis, diagnoses"
  })
  void theChineseTextsAreTheSameWithTheSamePlaceholders(Class<?> beside, String file)
      throws IOException {
    Map<String, Set<String>> english = placeholders(file + ".properties", beside);
    Map<String, Set<String>> chinese = placeholders(file + "_zh.properties", beside);
    assertThat(chinese).containsExactlyInAnyOrderEntriesOf(english);
  }

  private static Map<String, Set<String>> placeholders(String file, Class<?> beside)
      throws IOException {
    Properties texts =
        PropertiesLoaderUtils.loadProperties(
            new EncodedResource(new ClassPathResource(file, beside), StandardCharsets.UTF_8));
    Map<String, Set<String>> placeholders = new TreeMap<>();
    for (String name : texts.stringPropertyNames()) {
      placeholders.put(
          name,
          Pattern.compile("\\{([^}]*)}")
              .matcher(texts.getProperty(name))
              .results()
              .map(found -> found.group(1))
              .collect(Collectors.toCollection(TreeSet::new)));
    }
    return placeholders;
  }

  @Test
  void valuesSpeakTheLanguageOfTheirFinding() {
    Finding late =
        QueueHealth.of(
            Code.LATE,
            Finding.Subject.of("shop"),
            "shop",
            IntStream.range(0, 7)
                .mapToObj(i -> Finding.part("late.queue", "type", "{type} " + i, "seconds", "1.5"))
                .toList(),
            List.of());
    assertThat(late.text())
        .startsWith("Due jobs of shop wait: {type} 0 (for 1.5 s), {type} 1 (")
        .endsWith("{type} 4 (for 1.5 s) and 2 more");
    assertThat(late.messageText().in(Locale.SIMPLIFIED_CHINESE))
        .startsWith("shop 的任务到期后仍在等待：{type} 0（已 1.5 秒）、{type} 1（")
        .endsWith("{type} 4（已 1.5 秒） 等（另有 2 个）");
    assertThat(late.messageText().in(Locale.FRENCH)).isEqualTo(late.text());
  }
}
