package io.punctual.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {

  private static final Figure FIRST = run("2026-01-01 10:00 UTC");
  private static final Figure SECOND = run("2026-01-02 10:00 UTC");

  @Test
  void whereAnotherIsBetterStandsFirst() {
    String text =
        new Report(
                List.of(
                    FIRST,
                    figure("C", "punctual", "jobs/s", 40_000),
                    figure("C", "bullmq", "jobs/s", 20_000),
                    figure("C", "redis", "jobs/s", 180_000),
                    figure("B", "punctual", "p50 ms", 0.9),
                    figure("B", "redisson", "p50 ms", 0.2)))
            .text();

    assertThat(text.strip())
        .startsWith(
            """
            ### Where others are better

            - **B, p50 ms**: redisson 0.20; Punctual 0.90.

            ###""");
    assertThat(text).contains("| bullmq |  |  |  |  |  | 20,000 |  |  |");
  }

  @Test
  void aFigureThatWasMeasuredAgainReplacesTheOlderOneAndNamesItsRun() {
    Figure old = figure("C", "punctual", "jobs/s", 1_000);
    Figure again = figure("C", "punctual", "jobs/s", 2_000);

    assertThat(new Report(List.of(FIRST, old, SECOND, again)).text())
        .contains("2,000", SECOND.who())
        .doesNotContain("1,000", FIRST.who());
  }

  @Test
  void theReportStandsBetweenTheMarkersOfAPage(@TempDir Path directory) throws IOException {
    String page =
        "before\n<!-- begin of what the benchmark writes -->\n"
            + "%s<!-- end of what the benchmark writes -->\nbehind\n";
    Path file = Files.writeString(directory.resolve("page.md"), page.formatted("old\n"));
    Report report =
        new Report(
            List.of(
                figure("S1", "schedulers: 1", "script calls a job", 2),
                figure("S1", "schedulers: 8", "script calls a job", 3)));

    report.publish(file);

    assertThat(file).hasContent(page.formatted(report.text()));
    assertThat(report.text())
        .contains("| S1: script calls a job, schedulers: 8 over schedulers: 1 | 1.50 | 1.3 |")
        .contains("(images/calls-by-schedulers.svg)");
    assertThat(directory.resolve("images/calls-by-schedulers.svg"))
        .content()
        .contains("<polyline")
        .endsWith("</svg>\n");
  }

  @Test
  void aPageWithoutMarkersIsLeftAlone(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("page.md"), "text");

    assertThatThrownBy(() -> new Report(List.of()).publish(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("page.md has no place for the report");
    assertThat(file).hasContent("text");
  }

  private static Figure run(String date) {
    return new Figure("run", date, "abc1234", new double[] {2}, "2 processors");
  }

  private static Figure figure(String part, String who, String metric, double value) {
    return new Figure(part, who, metric, new double[] {value}, "");
  }
}
