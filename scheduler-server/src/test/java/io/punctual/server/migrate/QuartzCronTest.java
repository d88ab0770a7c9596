package io.punctual.server.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.core.schedule.Occurrence;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Schedule;
import java.text.ParseException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Random;
import java.util.TimeZone;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.quartz.CronExpression;

/** Expressions of Quartz mean the same in Punctual, as Quartz itself computes them. */
class QuartzCronTest {

  private static final int EACH = 20;

  /** Clocks change within the next runs of many. */
  private static final List<Instant> BEGINS =
      List.of(
          Instant.parse("2027-01-30T11:59:59Z"),
          Instant.parse("2027-03-27T20:00:00Z"),
          Instant.parse("2027-10-30T20:00:00Z"),
          Instant.parse("2027-11-06T20:00:00Z"),
          Instant.parse("2028-02-27T00:00:00Z"));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 0 9 L * ? | 0 0 9 L * *",
        "0 30 2 ? * 2-6 | 0 30 2 * * MON,TUE,WED,THU,FRI",
        "0 0 0 ? * 1 | 0 0 0 * * SUN",
        "0 0 0 ? * L | 0 0 0 * * SAT",
        "0 0 0 ? * 6L | 0 0 0 * * FRIL",
        "0 0 0 ? * MON#2 | 0 0 0 * * MON#2",
        "0 0 22-2 ? * FRI-MON | 0 0 0-2,22-23 * * SUN,MON,FRI,SAT",
        "0 0/5 * * * ? * | 0 0-55/5 * * * *",
        "/30 * * * * ? | 0,30 * * * * *",
        "0 0 0 1 1/3 ? | 0 0 0 1 1-10/3 *",
        "0 0 0 ? * * | 0 0 0 * * *",
        "0 0 0 LW JAN ? | 0 0 0 LW 1 *",
        "0 0 0 1,15W dec ? | 0 0 0 1,15W 12 *",
      })
  void itIsTranslated(String quartz, String here) throws Exception {
    assertThat(QuartzCron.translated(quartz)).isEqualTo(here);
    assertSame(quartz);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0 15 10 ? * 6L",
        "0 15 10 ? * 6#3",
        "0 15 10 ? * 6#5",
        "0 0 12 1/5 * ?",
        "0 11 11 11 11 ?",
        "0 0 12 27W * ?",
        "0 0 12 1W * ?",
        "0 0 6 L-3 * ?",
        "0 0 2 * * ?",
        "0 30 2 * * ?",
        "0 30 1 * * ?",
        "0 0 3 * * ?",
        "0 0/15 * * * ?",
        "0 0/30 1-4 * * ?",
        "0 10,44 14 ? 3 WED",
        "0 0 0 29 2 ?",
        "59 59 23 31 12 ?",
        "0 0 1 ? * 7/2",
        "0 0 0 ? * SUN,WED",
        "30 0 0 31 * ?"
      })
  void itsRunsAreTheSame(String quartz) throws Exception {
    assertSame(quartz);
  }

  @Test
  void runsOfAnyExpressionAreTheSame() throws Exception {
    Random random = new Random(7);
    for (int i = 0; i < 400; i++) {
      assertSame(
          String.join(
              " ",
              field(random, 0, 59),
              field(random, 0, 59),
              field(random, 0, 23),
              random.nextBoolean()
                  ? field(random, 1, 28) + " " + field(random, 1, 12) + " ?"
                  : "? " + field(random, 1, 12) + " " + field(random, 1, 7)));
    }
  }

  private static String field(Random random, int min, int max) {
    int one = min + random.nextInt(max - min + 1);
    int other = min + random.nextInt(max - min + 1);
    int step = 1 + random.nextInt(Math.max(1, (max - min) / 2));
    return switch (random.nextInt(6)) {
      case 0 -> "*";
      case 1 -> one + "-" + other;
      case 2 -> one + "/" + step;
      case 3 -> "*/" + step;
      case 4 -> one + "," + other;
      default -> Integer.toString(one);
    };
  }

  private static void assertSame(String quartz) throws ParseException, UnreadableException {
    for (String zone : List.of("Europe/Berlin", "America/New_York", "Asia/Shanghai", "UTC")) {
      CronExpression there = new CronExpression(quartz);
      there.setTimeZone(TimeZone.getTimeZone(zone));
      for (Instant begin : BEGINS) {
        List<Instant> expected = new ArrayList<>();
        Date next = there.getNextValidTimeAfter(Date.from(begin));
        while (next != null && expected.size() < EACH) {
          expected.add(next.toInstant());
          next = there.getNextValidTimeAfter(next);
        }
        List<Instant> found =
            ScheduleDefinition.of(
                    Schedule.of("x", "x")
                        .cron(QuartzCron.translated(quartz), ZoneId.of(zone))
                        .gap(Gap.SKIP)
                        .fold(Fold.LAST)
                        .build())
                .recurrence()
                .next(begin, EACH)
                .stream()
                .map(Occurrence::at)
                .toList();
        assertThat(found).as("%s in %s from %s", quartz, zone, begin).isEqualTo(expected);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 0 9 * * ? 2030 | it names years",
        "0 0 9 28W * ? | not each month has a weekday near day 28",
        "0 0 9 * * | it has 5 fields, not 6 or 7",
        "0 0 9 ? * 8 | its day of week '8' is out of range",
        "0 0 9 ? * 9L | there is no day of the week 9",
        "0 0 x * * ? | its hour 'X' is not known",
        "0 0 9 L-3W * ? | its day of month 'L-3W' is not known",
        "0 0 99999 * * ? | its hour '99999' is out of range",
        "0 0 0/0 * * ? | its hour '0/0' is out of range",
      })
  void whatPunctualHasNotIsNamed(String quartz, String why) {
    assertThatThrownBy(() -> QuartzCron.translated(quartz))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining("has the cron expression '" + quartz + "'")
        .hasMessageContaining(why);
  }
}
