package io.punctual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryPolicyTest {

  private final Random random = new Random(1);

  @Test
  void theNotifyPresetWalksItsLadder() {
    RetryPolicy policy = RetryPolicy.parse("notify");

    assertThat(policy.maxAttempts()).isEqualTo(10);
    assertThat(policy.delayAfter(1, random)).isZero();
    assertThat(policy.delayAfter(3, random)).isEqualTo(Duration.ofMinutes(2));
    assertThat(policy.delayAfter(9, random)).isEqualTo(Duration.ofHours(15));
  }

  @Test
  void theLastStepRepeatsWhereThereAreMoreAttemptsThanSteps() {
    RetryPolicy policy = RetryPolicy.parse("1s,2m;attempts=20");

    assertThat(policy.maxAttempts()).isEqualTo(20);
    assertThat(policy.delayAfter(19, random)).isEqualTo(Duration.ofMinutes(2));
  }

  @Test
  void exponentialDelaysDoubleUpToTheCapAndJitterOnlyShortensThem() {
    RetryPolicy policy = RetryPolicy.parse("exponential(2s,1m,0.5);attempts=50");

    for (int failures = 1; failures <= 49; failures++) {
      long full = Math.min(2000L << Math.min(failures - 1, 20), 60_000L);
      assertThat(policy.delayAfter(failures, random).toMillis()).isBetween(full / 2, full);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0s,0s,2m,10m,10m,1h,2h,6h,15h",
        "250ms,5s;attempts=7",
        "exponential(2s,1h,0.25);attempts=12",
        "never",
        "default",
        "notify",
        "PT2S,P1D"
      })
  void theTextFormIsReadBackToAnEqualPolicy(String text) {
    RetryPolicy policy = RetryPolicy.parse(text);

    assertThat(RetryPolicy.parse(policy.text())).isEqualTo(policy);
  }

  @ParameterizedTest
  @ValueSource(strings = {"en-US", "ar-EG-u-nu-arab", "fa-IR-u-nu-arabext"})
  void theTextFormIsTheSameInEveryLocale(String locale) {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag(locale));
    try {
      for (RetryPolicy policy :
          List.of(
              RetryPolicy.DEFAULT,
              RetryPolicy.NOTIFY,
              RetryPolicy.NEVER,
              new RetryPolicy.Ladder(List.of(Duration.ofMillis(1_234), Duration.ofDays(3)), 1_000),
              new RetryPolicy.Exponential(Duration.ofMillis(1), Duration.ofDays(30), 0.00001, 99),
              new RetryPolicy.Exponential(Duration.ofHours(1), Duration.ofHours(1), 1, 1))) {
        assertThat(RetryPolicy.parse(policy.text())).isEqualTo(policy);
      }
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void aDelayThatTheTextFormCannotKeepIsRefused() {
    Duration tooFine = Duration.ofNanos(500_000);
    assertThatThrownBy(() -> new RetryPolicy.Exponential(tooFine, Duration.ofHours(1), 0.5, 10))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("whole milliseconds, not PT0.0005S");
    assertThatThrownBy(
            () -> new RetryPolicy.Exponential(Duration.ofMillis(1), tooFine.plusMillis(1), 0, 2))
        .hasMessageContaining("whole milliseconds");
    assertThatThrownBy(() -> new RetryPolicy.Ladder(List.of(tooFine), 2))
        .hasMessageContaining("whole milliseconds");
    assertThatThrownBy(() -> RetryPolicy.parse("PT0.0005S"))
        .hasMessageContaining("whole milliseconds");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        ",",
        "5",
        "-5s",
        "5s,",
        "31d",
        "exponential(0s,1h)",
        "exponential(2h,1h)",
        "exponential(1s)",
        "exponential(1s,1h,2)",
        "exponential(1s,1h,x)",
        "1s;attempts=0",
        "1s;attempts=1001",
        "1s;tries=3",
        "1s;attempts=2;x",
        "soon",
        "never;attempts=2"
      })
  void nonsenseIsRefusedWithAReason(String text) {
    assertThatThrownBy(() -> RetryPolicy.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching("(?s).{10,}");
  }

  @Test
  void aDelayThatIsNoneIsNamedWithTheFormsOfPolicies() {
    assertThatThrownBy(() -> RetryPolicy.parse("1s,soon"))
        .hasMessageContaining("'1s,soon' ('soon' is not a duration)")
        .hasMessageContaining("exponential(2s,1h,0.5)")
        .hasMessageContaining("default, notify, never");
  }
}
