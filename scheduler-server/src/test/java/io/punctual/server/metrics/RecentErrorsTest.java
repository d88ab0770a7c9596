package io.punctual.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecentErrorsTest {

  private static final QueueName QUEUE = new QueueName("shop", "mail");

  private final AtomicLong now = new AtomicLong();
  private final RecentErrors errors = new RecentErrors(now::get);

  private void fail(int times, String instance, String release, String message) {
    for (int i = 0; i < times; i++) {
      errors.add(QUEUE, new ErrorNote(instance, release, message.replace("#", "" + i)));
    }
  }

  @Test
  void theMostFrequentErrorIsToldWithItsInstanceAndRelease() {
    fail(6, "shop-3", "2.14.0", "a.B: order # failed\n\tat a.C.d(C.java:1)");
    fail(2, "shop-1", "2.13.0", "a.B: order # failed");
    fail(2, "shop-1", "2.13.0", "other");

    assertThat(errors.of(QUEUE))
        .isEqualTo(
            new RecentErrors.Common(
                "a.B: order 1 failed", 80, 10, new FailurePlace(75, "shop-3", "2.14.0")));
  }

  @Test
  void anErrorIsTheSameAtWhicheverInstanceAndHoweverLongItsNumbersAre() {
    String text = "HTTP 500 from http://%s:8080/callback: a.B: order %s is %s";
    for (String instance : new String[] {"shop-a", "shop-b"}) {
      for (String order : new String[] {"9", "1000"}) {
        fail(1, instance, "", text.formatted(instance, order, "late".repeat(40)));
      }
    }

    RecentErrors.Common common = errors.of(QUEUE);

    assertThat(common.percent()).isEqualTo(100);
    assertThat(common.text())
        .startsWith("HTTP 500: a.B: order 1000 is late")
        .endsWith("…")
        .hasSize(RecentErrors.MAX_TEXT);
    assertThat(RecentErrors.normal(text.formatted("x", 1, "y")))
        .isEqualTo("HTTP ##: a.B: order # is y");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "a.B: no at a.b.C.d(C.java:12) at e.F.g(F.java); a.B: no",
        "a.B: no at app//a.b.C.d(C.java:12) and so on; a.B: no",
        "a.B: no at java.base/a.b.C.d(Native Method); a.B: no",
        "Refused at smtp.rcpt(2) because; Refused at smtp.rcpt(2) because",
      })
  void onlyFramesAreAStackTrace(String message, String line) {
    assertThat(RecentErrors.line(message)).isEqualTo(line);
  }

  @Test
  void noCharacterIsCutInTwo() {
    for (int length : new int[] {RecentErrors.MAX_TEXT - 2, RecentErrors.MAX_TEXT - 1}) {
      String message = "x".repeat(length) + "😀" + "y".repeat(9);
      for (String cut : List.of(RecentErrors.first(message), RecentErrors.normal(message))) {
        assertThat(cut.codePoints().filter(c -> Character.getType(c) == Character.SURROGATE))
            .as(cut)
            .isEmpty();
      }
    }
  }

  @Test
  void aReleaseStandsOutWhereNoInstanceDoes() {
    for (int i = 0; i < 4; i++) {
      fail(1, "shop-" + i, "2.14.0", "late");
    }

    assertThat(errors.of(QUEUE))
        .isEqualTo(new RecentErrors.Common("late", 100, 4, new FailurePlace(100, "", "2.14.0")));
  }

  @Test
  void theLastHundredOfTheLastQuarterOfAnHourCount() {
    fail(60, "", "", "old");
    now.addAndGet(Duration.ofMinutes(10).toNanos());
    fail(60, "", "", "new");

    assertThat(errors.of(QUEUE)).isEqualTo(new RecentErrors.Common("new", 60, 100, null));

    now.addAndGet(Duration.ofMinutes(6).toNanos());
    assertThat(errors.of(QUEUE)).isEqualTo(new RecentErrors.Common("new", 100, 60, null));
    now.addAndGet(Duration.ofMinutes(10).toNanos());
    assertThat(errors.of(QUEUE)).isNull();
  }

  @Test
  void aLongNameInAnErrorDoesNotUseUpTheStack() {
    String message = "lost at " + "a.".repeat(100_000);
    assertThat(RecentErrors.line(message)).isEqualTo(message);
  }
}
