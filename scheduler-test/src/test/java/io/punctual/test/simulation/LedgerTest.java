package io.punctual.test.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The judge is judged first: each doctored run must be found out. */
class LedgerTest {

  private final Ledger ledger = new Ledger();

  @BeforeEach
  void oneHonestJob() {
    ledger.submitted("a", 100);
    ledger.accepted("a");
    ledger.leased("a", 100, 200);
    ledger.began("a", 110);
    ledger.succeeded("a");
    ledger.released("a");
  }

  @Test
  void anHonestRunPasses() {
    assertThat(ledger.verdict(Set.of("a"), Set.of(), Set.of(), Set.of())).isEmpty();
  }

  @Test
  void aLostJobIsFound() {
    assertThat(ledger.verdict(Set.of(), Set.of(), Set.of(), Set.of())).hasSize(1);
  }

  @Test
  void aJobInTwoPlacesIsFound() {
    assertThat(ledger.verdict(Set.of("a"), Set.of(), Set.of("a"), Set.of())).hasSize(1);
  }

  @Test
  void aJobThatDoesNotDrainIsFound() {
    assertThat(ledger.verdict(Set.of(), Set.of(), Set.of(), Set.of("a"))).hasSize(1);
  }

  @Test
  void anEarlyBeginningIsFound() {
    ledger.began("a", 99);

    assertThat(ledger.verdict(Set.of("a"), Set.of(), Set.of(), Set.of())).hasSize(1);
  }

  @Test
  void aJobFromNowhereIsFound() {
    ledger.began("x", 500);

    assertThat(ledger.verdict(Set.of("a"), Set.of(), Set.of(), Set.of())).hasSize(1);
  }

  @Test
  void overlappingLeasesAreFound() {
    ledger.leased("a", 300, 400);
    ledger.leased("a", 399, 500);

    assertThat(ledger.verdict(Set.of("a"), Set.of(), Set.of(), Set.of())).hasSize(1);
  }

  @Test
  void aSecondSuccessIsFoundUnlessAFaultExplainsIt() {
    ledger.succeeded("a");
    assertThat(ledger.verdict(Set.of("a"), Set.of(), Set.of(), Set.of())).hasSize(1);

    ledger.fault("a");
    assertThat(ledger.verdict(Set.of("a"), Set.of(), Set.of(), Set.of())).isEmpty();
  }

  @Test
  void aJobThatIsHandedOutAfterItsEventIsFound() {
    ledger.met("a", true, 300);
    ledger.claimed("a", "i", 400);
    ledger.met("a", true, 500);
    ledger.claimed("a", "i", 500);
    assertThat(ledger.verdict(Set.of("a"), Set.of(), Set.of(), Set.of())).isEmpty();

    ledger.claimed("a", "i", 501);
    assertThat(ledger.verdict(Set.of("a"), Set.of(), Set.of(), Set.of())).hasSize(1);
  }

  @Test
  void aJobThatItsEventMakesDueAndThatRunsLateIsFound() {
    ledger.submitted("b", 90_000);
    ledger.mayRunFrom("b", 300);
    ledger.met("b", false, 300);
    ledger.met("b", false, 400);
    ledger.began("b", 5_401);

    assertThat(ledger.verdict(Set.of("a"), Set.of(), Set.of(), Set.of()))
        .containsExactly("b was made due at 400 and ran at 5401");
  }

  @Test
  void aFinishedJobThatNeverRanIsFound() {
    assertThat(ledger.verdict(Set.of("a", "b"), Set.of(), Set.of(), Set.of())).hasSize(1);
  }
}
