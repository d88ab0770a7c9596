package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Lines of pages end at 100 characters: those of prose, where they can be broken. */
class MarkdownLinesTest {

  private static final int WIDTH = 100;

  /** Not wrapped yet. */
  private static final Set<String> LEFT = Set.of("docs/performance.md");

  private static final Pattern FENCE = Pattern.compile(" *(```+|~~~+).*");
  private static final Pattern ROW = Pattern.compile(" *[|#].*");
  private static final Pattern MARKER = Pattern.compile("^ *([-*+]|\\d+[.)])? *");

  /** Code, and a link with what is glued to it. */
  private static final Pattern WHOLE =
      Pattern.compile("`[^`]*`|!?\\[(?:[^\\]`]|`[^`]*`)*](?:\\([^)]*\\))?");

  @Test
  void linesOfProseEndAtAHundredCharacters() throws IOException {
    List<String> found = new ArrayList<>();
    Path root = ModuleDirectory.root();
    for (Path page : PlainWordsTest.files(Set.of("target", "node_modules", ".git"))) {
      String name = root.relativize(page).toString();
      if (name.endsWith(".md") && !LEFT.contains(name)) {
        tooLong(Files.readAllLines(page)).forEach(line -> found.add(name + ":" + line));
      }
    }
    assertThat(found).as("break these lines").isEmpty();
  }

  @Test
  void onlyProseThatCanBeBrokenCounts() {
    String words = "word ".repeat(21).strip();
    String link = "[" + words + "](page.md)";
    assertThat(
            tooLong(
                List.of(
                    words,
                    "```",
                    words,
                    "```",
                    "| " + words + " |",
                    "- `" + words + "`",
                    link,
                    "See " + link,
                    "- " + words)))
        .containsExactly("1: " + words, "8: See " + link, "9: - " + words);
  }

  /** The lines that are too long, each behind its number. */
  private static List<String> tooLong(List<String> lines) {
    List<String> found = new ArrayList<>();
    boolean code = false;
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (FENCE.matcher(line).matches()) {
        code = !code;
      } else if (!code && line.length() > WIDTH && !ROW.matcher(line).matches()) {
        String prose = MARKER.matcher(WHOLE.matcher(line).replaceAll("x")).replaceFirst("");
        if (prose.strip().contains(" ")) {
          found.add(i + 1 + ": " + line);
        }
      }
    }
    return found;
  }
}
