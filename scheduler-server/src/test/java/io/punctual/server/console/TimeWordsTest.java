package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.core.job.Due;
import io.punctual.server.problem.ApiException;
import java.time.Instant;
import java.time.ZonedDateTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimeWordsTest {

  private static final TimeWords SHANGHAI = at("2026-11-28T17:30:00.123+08:00[Asia/Shanghai]");
  // The day before has 25 hours: from 02:00 to 03:00 comes twice.
  private static final TimeWords BERLIN = at("2026-10-26T00:30:00+01:00[Europe/Berlin]");
  // From 02:00 to 03:00 does not exist on the day after.
  private static final TimeWords SPRING = at("2027-03-27T12:00:00+01:00[Europe/Berlin]");
  // This day begins at 01:00.
  private static final TimeWords CAIRO = at("2026-04-24T12:00:00+03:00[Africa/Cairo]");

  private static TimeWords at(String now) {
    return new TimeWords(ZonedDateTime.parse(now));
  }

  private static TimeWords of(String name) {
    return switch (name) {
      case "Shanghai" -> SHANGHAI;
      case "Berlin" -> BERLIN;
      case "Spring" -> SPRING;
      default -> CAIRO;
    };
  }

  @ParameterizedTest
  @CsvSource({
    "Shanghai, now, 2026-11-28T09:30:00.123Z",
    "Shanghai, -1h, 2026-11-28T08:30:00.123Z",
    "Shanghai, +30m, 2026-11-28T10:00:00.123Z",
    "Shanghai, -250ms, 2026-11-28T09:29:59.873Z",
    "Shanghai, -PT1H30M, 2026-11-28T08:00:00.123Z",
    "Shanghai, 14:00, 2026-11-28T06:00:00Z",
    "Shanghai, 9:05, 2026-11-28T01:05:00Z",
    "Shanghai, 23:59:59.999, 2026-11-28T15:59:59.999Z",
    "Shanghai, yesterday 24:00, 2026-11-27T16:00:00Z",
    "Shanghai, Today 00:00, 2026-11-27T16:00:00Z",
    "Shanghai, yesterday 9:00, 2026-11-27T01:00:00Z",
    "Shanghai, ' TOMORROW  9:00 ', 2026-11-29T01:00:00Z",
    "Shanghai, 2026-02-28T14:00:30, 2026-02-28T06:00:30Z",
    "Shanghai, 2026-02-28 14:00, 2026-02-28T06:00:00Z",
    "Shanghai, 2030-01-31T12:00:00Z, 2030-01-31T12:00:00Z",
    "Shanghai, 2030-01-31t12:00+01:00, 2030-01-31T11:00:00Z",
    // A while is as long as it says, whatever the clocks do meanwhile.
    "Berlin, -24h, 2026-10-24T23:30:00Z",
    "Berlin, -1d, 2026-10-24T23:30:00Z",
    // The first of two.
    "Berlin, yesterday 2:30, 2026-10-25T00:30:00Z",
    "Berlin, yesterday 3:00, 2026-10-25T02:00:00Z",
    // Moved on by the hour that is skipped: 03:30.
    "Spring, tomorrow 2:30, 2027-03-28T01:30:00Z",
    "Spring, tomorrow 3:30, 2027-03-28T01:30:00Z",
  })
  void aMomentIsThatOfTheViewersClock(String words, String typed, Instant moment) {
    assertThat(of(words).from("from", typed)).isEqualTo(moment.toEpochMilli());
    assertThat(of(words).until("until", typed)).isEqualTo(moment.toEpochMilli());
  }

  @ParameterizedTest
  @CsvSource({
    "Shanghai, today, 2026-11-27T16:00:00Z, 2026-11-28T15:59:59.999Z",
    "Shanghai, yesterday, 2026-11-26T16:00:00Z, 2026-11-27T15:59:59.999Z",
    "Shanghai, Tomorrow, 2026-11-28T16:00:00Z, 2026-11-29T15:59:59.999Z",
    "Shanghai, 2024-02-29, 2024-02-28T16:00:00Z, 2024-02-29T15:59:59.999Z",
    // 25 hours, 23 hours, and 23 that begin at 01:00.
    "Berlin, yesterday, 2026-10-24T22:00:00Z, 2026-10-25T22:59:59.999Z",
    "Spring, tomorrow, 2027-03-27T23:00:00Z, 2027-03-28T21:59:59.999Z",
    "Cairo, today, 2026-04-23T22:00:00Z, 2026-04-24T20:59:59.999Z",
  })
  void aDayIsThatOfTheViewersCalendar(String words, String typed, Instant first, Instant last) {
    assertThat(of(words).from("from", typed)).isEqualTo(first.toEpochMilli());
    assertThat(of(words).until("until", typed)).isEqualTo(last.toEpochMilli());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "soon",
        "1h",
        "-",
        "--1h",
        "-PT-1H",
        "-1x",
        "25:00",
        "9:60",
        "9:5",
        "12",
        "24:01",
        "2026-02-29",
        "2026-13-01",
        "2026-1-1",
        "yesterday9:00",
        "tomorrow soon",
        "1969-12-31",
        "9999-12-31T23:59:59.999-01:00",
        "+999999999-01-01T00:00:00Z",
        "-999999999999d",
        "-106751991168d",
        "2026-11-28T14:00:00+08:00[Asia/Shanghai]"
      })
  void whatIsNoTimeIsToldSo(String typed) {
    assertThatThrownBy(() -> SHANGHAI.from("from", typed))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("from must be a time from 1970 to 9999, such as -1h, 14:00");
  }

  @Test
  void aDueTimeIsADelayOrATimeThatIsNotOver() {
    assertThat(SHANGHAI.due("when", "30m")).isEqualTo(Due.in(1_800_000));
    assertThat(SHANGHAI.due("when", " +30m ")).isEqualTo(Due.in(1_800_000));
    assertThat(SHANGHAI.due("when", "PT30M")).isEqualTo(Due.in(1_800_000));
    assertThat(SHANGHAI.due("when", "now")).isEqualTo(Due.in(0));
    assertThat(SHANGHAI.due("when", "17:31")).isEqualTo(due("2026-11-28T09:31:00Z"));
    assertThat(SHANGHAI.due("when", "tomorrow 9:00")).isEqualTo(due("2026-11-29T01:00:00Z"));
    assertThat(SPRING.due("when", "tomorrow 2:30")).isEqualTo(due("2027-03-28T01:30:00Z"));
    assertThat(SHANGHAI.due("when", "2030-01-31T12:00:00Z")).isEqualTo(due("2030-01-31T12:00:00Z"));
  }

  private static Due due(String at) {
    return Due.at(Instant.parse(at).toEpochMilli());
  }

  @ParameterizedTest
  @CsvSource({
    "soon, 'when must be a time from 1970 to 9999, such as +30m'",
    "17:30, when must not be in the past",
    "-1h, when must not be in the past",
    "yesterday 9:00, when must not be in the past",
    "2020-01-31T12:00:00Z, when must not be in the past",
    "tomorrow, when must name a time of day",
    "2026-12-24, when must name a time of day",
    "-PT1H, delay must be between",
  })
  void whatIsNoDueTimeIsToldSo(String typed, String why) {
    assertThatThrownBy(() -> SHANGHAI.due("when", typed))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining(why);
  }

  @Test
  void aSpanIsShownInTheViewersZoneWithoutTheDateOfToday() {
    assertThat(span(SHANGHAI, "14:00", "15:00"))
        .isEqualTo(new TimeWords.Span("14:00", "15:00", "UTC+8"));
    assertThat(span(SHANGHAI, "yesterday", "today"))
        .isEqualTo(new TimeWords.Span("2026-11-27 00:00", "24:00", "UTC+8"));
    assertThat(span(SHANGHAI, "-1h", null))
        .isEqualTo(new TimeWords.Span("16:30:00.123", null, "UTC+8"));
    assertThat(span(SHANGHAI, null, "2026-11-27"))
        .isEqualTo(new TimeWords.Span(null, "2026-11-27 24:00", "UTC+8"));
    assertThat(SHANGHAI.span(null, null)).isNull();
    assertThat(span(BERLIN, "yesterday", "yesterday"))
        .isEqualTo(new TimeWords.Span("2026-10-25 00:00", "2026-10-25 24:00", "Europe/Berlin"));
    assertThat(at("2026-11-28T12:00:00Z").zone()).isEqualTo("UTC");
    assertThat(at("2026-11-28T12:00:00-03:30[America/St_Johns]").zone()).isEqualTo("UTC-3:30");
    assertThat(SHANGHAI.told(0)).isEqualTo("1970-01-01 08:00 UTC+8");
  }

  private static TimeWords.Span span(TimeWords words, String from, String until) {
    return words.span(
        from == null ? null : words.from("from", from),
        until == null ? null : words.until("until", until));
  }
}
