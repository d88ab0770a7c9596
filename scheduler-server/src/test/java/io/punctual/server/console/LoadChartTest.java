package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LoadChartTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "3452; 102; 82; ",
        "290; 102; 33; 81",
        "50; 102; 82; 134",
        "; 102; 82; ",
      })
  void barsAreSeenHoweverMuchMoreWasEverDone(Long most, long jobs, int height, Integer line) {
    LoadAhead.Load load =
        new LoadAhead.Load(
            LoadAhead.Ahead.HOUR, "", 1, 60_000, List.of(jobs), most, List.of(), List.of());

    LoadChart chart = new LoadChart(load, ZoneOffset.UTC, Locale.ENGLISH);

    assertThat(chart.getBars()).singleElement().returns(height, LoadChart.Bar::height);
    assertThat(chart.getLine()).isEqualTo(line);
    assertThat(chart.getTicks().get(0))
        .isEqualTo(new Timeline.Tick("14", most != null && most == 290 ? "500" : "200"));
  }

  @Test
  void theSearchOfABarFindsWhatTheBarCounts() {
    LoadAhead.Load load =
        new LoadAhead.Load(
            LoadAhead.Ahead.HOUR, "x ", 400, 60_000, List.of(0L, 5L), null, List.of(), List.of());

    assertThat(new LoadChart(load, ZoneOffset.UTC, Locale.ENGLISH).getBars())
        .singleElement()
        .returns(
            "x from:1970-01-01T00:01:00.401Z until:1970-01-01T00:02:00.400Z", LoadChart.Bar::words);
  }
}
