package io.punctual.core.wake;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.WakeCause;
import io.punctual.core.wake.WakePlan.Look;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Monotonic time in ns, the store's in ms; the store's clock shows 1,000,000 ms more. */
class WakePlanTest {

  private static final long MS = 1_000_000;
  private static final long STORE = 1_000_000;

  private final WakePlan plan = new WakePlan(() -> Duration.ofSeconds(1), new IdleChecks(10));

  @Test
  void theFirstLookIsAtOnce() {
    assertThat(plan.next(5 * MS, false)).isEqualTo(new Look(5 * MS, WakeCause.ASKED));
  }

  @Test
  void itAimsAtTheDueTime() {
    looked(0, STORE + 300, WakePlan.NEVER);
    assertThat(plan.next(1 * MS, false)).isEqualTo(new Look(300 * MS, WakeCause.DUE));
  }

  @Test
  void anEarlierHeadMovesTheAimAndALaterOneDoesNot() {
    looked(0, STORE + 300, WakePlan.NEVER);
    plan.head(STORE + 400);
    assertThat(plan.next(1 * MS, false).at()).isEqualTo(300 * MS);
    plan.head(STORE + 200);
    assertThat(plan.next(1 * MS, false).at()).isEqualTo(200 * MS);
  }

  @Test
  void whatIsDueWaitsWhileThereIsNoRoom() {
    looked(0, STORE - 50, WakePlan.NEVER);
    assertThat(plan.ready()).isTrue();
    assertThat(plan.next(1 * MS, false).at()).isLessThanOrEqualTo(1 * MS);
    assertThat(plan.next(1 * MS, true)).isEqualTo(new Look(1000 * MS, WakeCause.SAFETY));
  }

  @Test
  void whatFallsDueAfterTheLastAnswerIsDueWithoutAnotherOne() {
    looked(0, STORE + 300, WakePlan.NEVER);
    assertThat(plan.isDue(299 * MS)).isFalse();
    assertThat(plan.isDue(300 * MS)).isTrue();
    assertThat(plan.ready()).isFalse();
  }

  @Test
  void aNewOwnerLooksAtOnceAndForgetsWhichLeaseEndsNext() {
    plan.role(Role.OTHER, 2, false);
    looked(0, WakePlan.NEVER, STORE + 3_600_000);
    plan.role(Role.OWNER, 2, true);
    assertThat(plan.next(1 * MS, false)).isEqualTo(new Look(1 * MS, WakeCause.ASKED));
    assertThat(plan.deadlineKnown()).isFalse();
  }

  @Test
  void aTurnThatSuitedMoreEnginesIsForgotten() {
    plan.role(Role.OWNER, 10, true);
    looked(0, WakePlan.NEVER, WakePlan.NEVER);
    assertThat(plan.next(1 * MS, false).at()).isEqualTo(1000 * MS);
    plan.role(Role.OTHER, 10, false);
    assertThat(plan.next(1 * MS, false).at()).isEqualTo(1000 * MS);
    looked(1000 * MS, WakePlan.NEVER, WakePlan.NEVER);
    assertThat(plan.next(1001 * MS, false).at()).isEqualTo(11_000 * MS);
    plan.role(Role.OTHER, 2, false);
    assertThat(plan.next(1001 * MS, false).at()).isEqualTo(3_000 * MS);
  }

  @Test
  void somethingNearIsCheckedAtTheFixedInterval() {
    looked(0, STORE + 4_900, WakePlan.NEVER);
    assertThat(plan.next(1 * MS, false)).isEqualTo(new Look(1000 * MS, WakeCause.SAFETY));
  }

  @Test
  void anIdleBucketWaitsForItsTurn() {
    IdleChecks shared = new IdleChecks(10);
    for (int i = 0; i < 50; i++) {
      shared.reserve(0, 1);
    }
    WakePlan idle = new WakePlan(() -> Duration.ofSeconds(1), shared);
    idle.answered(0, 0, STORE);
    idle.due(STORE + 3_600_000);
    assertThat(idle.next(1 * MS, false)).isEqualTo(new Look(5000 * MS, WakeCause.SAFETY));
    // The turn stays its own until it has passed, however often it looks meanwhile.
    idle.answered(2000 * MS, 2000 * MS, STORE + 2000);
    assertThat(idle.next(2001 * MS, false).at()).isEqualTo(5000 * MS);
    idle.answered(5000 * MS, 5000 * MS, STORE + 5000);
    assertThat(idle.next(5001 * MS, false).at()).isEqualTo(6000 * MS);
  }

  @Test
  void leasesAreLookedAtWhenTheirDeadlineHasPassedAndNotBeforeTheyMayBeExpired() {
    looked(0, WakePlan.NEVER, STORE + 600);
    assertThat(plan.next(1 * MS, true)).isEqualTo(new Look(600 * MS, WakeCause.DEADLINE));
    plan.expireFrom(900 * MS);
    assertThat(plan.next(1 * MS, true)).isEqualTo(new Look(900 * MS, WakeCause.DEADLINE));
    plan.answered(700 * MS, 700 * MS, STORE + 700);
    assertThat(plan.expires(700 * MS)).isFalse();
    assertThat(plan.expires(900 * MS)).isTrue();
  }

  @Test
  void aDeadlineHasPassedOnlyByTheStoresClock() {
    looked(0, WakePlan.NEVER, STORE + 600);
    assertThat(plan.expires(5_000 * MS)).isFalse();
  }

  @Test
  void afterAnErrorItWaitsButAnAskEndsTheWait() {
    looked(0, STORE + 10, WakePlan.NEVER);
    plan.failed(20 * MS, 5000 * MS);
    assertThat(plan.next(20 * MS, false)).isEqualTo(new Look(5020 * MS, WakeCause.DUE));
    plan.ask();
    assertThat(plan.next(30 * MS, false)).isEqualTo(new Look(30 * MS, WakeCause.ASKED));
    plan.failed(40 * MS, 5000 * MS);
    assertThat(plan.next(40 * MS, false).at()).isEqualTo(5040 * MS);
  }

  @Test
  void withNothingToWaitForItStillChecks() {
    looked(0, WakePlan.NEVER, WakePlan.NEVER);
    Look look = plan.next(1 * MS, false);
    assertThat(look).isEqualTo(new Look(1000 * MS, WakeCause.SAFETY));
  }

  @Test
  void theDeputyLooksSomeTimeAfterTheDueTimeAndNotAgainAtOnce() {
    looked(0, STORE + 300, WakePlan.NEVER);
    plan.role(Role.DEPUTY, 5, /* first= */ false);
    assertThat(plan.next(1 * MS, false)).isEqualTo(new Look(2300 * MS, WakeCause.DUE));
    plan.answered(2300 * MS, 2300 * MS, STORE + 2300);
    assertThat(plan.next(2300 * MS, false)).isEqualTo(new Look(4300 * MS, WakeCause.DUE));
    assertThat(plan.aim()).isEqualTo(STORE + 300);
  }

  @Test
  void othersLookAtTheirSafetyChecksOnlyTheRarerTheMoreThereAre() {
    looked(0, STORE + 300, WakePlan.NEVER);
    plan.role(Role.OTHER, 5, /* first= */ false);
    assertThat(plan.next(1 * MS, false)).isEqualTo(new Look(5000 * MS, WakeCause.SAFETY));
    assertThat(plan.dueAt()).isEqualTo(WakePlan.NEVER);
    assertThat(plan.aim()).isLessThan(0);
  }

  @Test
  void whoHelpsLooksAsTheOwnerDoes() {
    looked(0, STORE + 300, WakePlan.NEVER);
    plan.role(Role.OTHER, 5, /* first= */ true);
    assertThat(plan.next(1 * MS, false)).isEqualTo(new Look(300 * MS, WakeCause.DUE));
    assertThat(plan.aim()).isEqualTo(STORE + 300);
  }

  @Test
  void whoBecomesTheOwnerLooksAtOnceButNotBeforeItsBackOff() {
    looked(0, WakePlan.NEVER, WakePlan.NEVER);
    plan.role(Role.OTHER, 2, /* first= */ false);
    plan.role(Role.OWNER, 1, /* first= */ true);
    assertThat(plan.next(1 * MS, false)).isEqualTo(new Look(1 * MS, WakeCause.ASKED));
    looked(2, WakePlan.NEVER, WakePlan.NEVER);
    plan.role(Role.OWNER, 1, /* first= */ true);
    assertThat(plan.next(3 * MS, false).cause()).isEqualTo(WakeCause.SAFETY);
    plan.role(Role.DEPUTY, 2, /* first= */ false);
    plan.failed(4 * MS, 100 * MS);
    plan.role(Role.OWNER, 1, /* first= */ true);
    assertThat(plan.next(5 * MS, false)).isEqualTo(new Look(104 * MS, WakeCause.ASKED));
  }

  @Test
  void anyEngineLooksAtTheEndOfALease() {
    looked(0, WakePlan.NEVER, STORE + 600);
    plan.role(Role.OTHER, 5, /* first= */ false);
    assertThat(plan.next(1 * MS, true)).isEqualTo(new Look(600 * MS, WakeCause.DEADLINE));
  }

  private void looked(long at, long due, long deadline) {
    plan.answered(at, at, STORE + at / MS);
    plan.due(due);
    plan.deadline(deadline);
  }
}
