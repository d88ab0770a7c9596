package io.punctual.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The benchmark itself works and its accounting is clean; how fast a busy machine is, is not
 * judged.
 */
@Tag("full")
class BenchmarksIT {

  @ParameterizedTest
  @CsvSource({
    "'B,C,D', punctual, 7",
    "'A1,A2', punctual-plugin, 2",
    "A1, redisson, 1",
    "'A2,C', quartz-ram, 2"
  })
  void aContest(String parts, String who, int figures) throws Exception {
    assertThat(measured(parts, who)).hasSize(figures);
  }

  @Test
  void theCostOfPendingJobs() throws Exception {
    assertThat(measured("F", "punctual")).hasSize(6);
  }

  @Test
  void minutesOnEnd() throws Exception {
    assertThat(measured("L", "punctual")).hasSize(6);
  }

  private static List<Figure> measured(String parts, String who) throws Exception {
    Path directory =
        Files.createDirectories(Path.of("target", "smoke", who + "-" + parts.charAt(0)));
    Files.deleteIfExists(directory.resolve("figures.jsonl"));

    List<String> problems = new Benchmarks(Options.quick(directory, parts, who)).run();

    assertThat(problems).isEmpty();
    List<Figure> figures = new Figures(directory.resolve("figures.jsonl")).all();
    assertThat(figures)
        .allSatisfy(
            figure -> {
              assertThat(figure.values()).isNotEmpty();
              assertThat(figure.min()).isNotNegative();
              assertThat(figure.note()).doesNotContain("MISSING", "TWICE", "EARLY");
            });
    assertThat(new Report(figures).text()).contains("| " + who + " |");
    return figures;
  }
}
