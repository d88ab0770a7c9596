package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The judge is judged first: each doctored history must be found out. */
class AccountingTest {

  private static final Map<String, Long> DUE = Map.of("a", 100L, "b", 200L);

  @Test
  void anHonestRunIsSound() {
    Accounting accounting =
        Accounting.of(DUE, DUE, List.of(begun("a", 100), done("a"), begun("b", 250), done("b")));

    assertThat(accounting.sound()).isTrue();
    assertThat(accounting.repeated()).isEmpty();
  }

  @Test
  void aJobThatNeverRanIsLost() {
    assertThat(Accounting.of(DUE, DUE, List.of(begun("a", 100), done("a"))).lost())
        .containsExactly("b");
  }

  @Test
  void aJobThatBeganAndNeverEndedIsLost() {
    assertThat(Accounting.of(DUE, DUE, List.of(begun("a", 100), done("a"), begun("b", 200))).lost())
        .containsExactly("b");
  }

  @Test
  void aJobThatWasTriedButNotAcceptedMayRunOrNot() {
    Accounting accounting =
        Accounting.of(DUE, Map.of("a", 100L), List.of(begun("a", 100), done("a")));

    assertThat(accounting.sound()).isTrue();
  }

  @Test
  void aJobFromNowhereIsUnexpected() {
    assertThat(Accounting.of(DUE, Map.of(), List.of(begun("x", 1))).unexpected())
        .containsExactly("x");
  }

  @Test
  void aMillisecondTooSoonIsEarly() {
    assertThat(Accounting.of(DUE, Map.of(), List.of(begun("a", 99))).early()).containsExactly("a");
  }

  @Test
  void aSecondBeginningIsARepetition() {
    assertThat(
            Accounting.of(DUE, DUE, List.of(begun("a", 100), begun("a", 300), done("a")))
                .repeated())
        .containsExactly("a");
  }

  private static Execution begun(String id, long at) {
    return new Execution(false, id, at);
  }

  private static Execution done(String id) {
    return new Execution(true, id, 0);
  }
}
