package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class InstanceBoardTest {

  private static final Duration AVOID = Duration.ofSeconds(3);
  private static final Duration TAKEN = Duration.ofMillis(1_500);
  private static final WorkerInstance A = instance("a");
  private static final WorkerInstance B = instance("b");
  private static final List<WorkerInstance> BOTH = List.of(A, B);

  private long now = -7;
  private final InstanceBoard board = new InstanceBoard(AVOID, TAKEN, () -> now);

  private static WorkerInstance instance(String id) {
    WorkerMetadata metadata =
        new WorkerMetadata(Set.of("job"), "/callback", WorkerMetadata.BATCH, 100);
    return new WorkerInstance(id, "shop", URI.create("http://" + id + "/"), metadata);
  }

  private void pass(Duration time) {
    now += time.toNanos();
  }

  /** So many jobs that nobody answers within a second. */
  private void timeOver(WorkerInstance instance, int jobs) {
    long sentAt = now;
    for (int i = 0; i < jobs; i++) {
      board.started(instance);
    }
    pass(Duration.ofSeconds(1));
    for (int i = 0; i < jobs; i++) {
      var unused = board.timeOver(instance, sentAt, "too late");
      board.ended(instance, sentAt);
    }
  }

  private Duration avoided(WorkerInstance instance) {
    Instant until = board.state(instance, BOTH, Instant.EPOCH).avoidedUntil();
    return until == null ? Duration.ZERO : Duration.between(Instant.EPOCH, until);
  }

  @Test
  void anInstanceThatWasNotReachedGetsOneJobFirstAndTheOthersWhenItTookThat() {
    board.avoid(A, AVOID, "refused");
    assertThat(board.free(A)).isZero();
    pass(AVOID);
    assertThat(board.free(A)).isOne();
    board.started(A);
    assertThat(board.free(A)).isZero();

    board.reached(A);
    assertThat(board.free(A)).isEqualTo(99);
  }

  @Test
  void aRequestThatWasNotRefusedForAWhileWasTaken() {
    board.avoid(A, AVOID, "refused");
    pass(AVOID);
    board.started(A);
    pass(TAKEN.minusNanos(1));
    assertThat(board.free(A)).isZero();
    pass(Duration.ofNanos(1));
    assertThat(board.free(A)).isEqualTo(99);
  }

  @Test
  void whatIsThereStillFromBeforeKeepsNobodyFromProbing() {
    board.started(A);
    board.avoid(A, AVOID, "overloaded");
    pass(AVOID);
    assertThat(board.free(A)).isOne();
  }

  @Test
  void aProbeThatEndsBeforeItIsKnownToBeTakenIsFollowedByAnother() {
    board.avoid(A, AVOID, "refused");
    pass(AVOID);
    board.started(A);
    board.withdrawn(A);
    assertThat(board.free(A)).isOne();
  }

  @Test
  void anInstanceThatAnswersNoneOfThreeJobsIsPassedOverAndProbedWithOne() {
    timeOver(A, 2);
    assertThat(board.candidates(BOTH)).isEqualTo(BOTH);
    timeOver(A, 20);
    assertThat(board.candidates(BOTH)).containsExactly(B);
    assertThat(board.free(BOTH)).isEqualTo(100);
    assertThat(avoided(A)).isEqualTo(AVOID);

    pass(AVOID);
    assertThat(board.candidates(BOTH)).isEqualTo(BOTH);
    assertThat(board.free(BOTH)).isEqualTo(101);
    board.started(A);
    assertThat(board.candidates(BOTH)).containsExactly(B);
    board.answered(A);
    board.ended(A, now);
    assertThat(board.free(BOTH)).isEqualTo(200);
  }

  @Test
  void whatWasSentBeforeDoesNotEndTheProbe() {
    long before = now;
    board.started(A);
    timeOver(A, 3);
    pass(AVOID);
    board.started(A);
    board.ended(A, before);
    assertThat(board.candidates(BOTH)).containsExactly(B);
  }

  @Test
  void itIsLeftAloneForTwiceAsLongEachTimeUpToAMinute() {
    timeOver(A, 3);
    for (int seconds : new int[] {3, 6, 12, 24, 48, 60, 60}) {
      assertThat(avoided(A)).isEqualTo(Duration.ofSeconds(seconds));
      pass(Duration.ofSeconds(seconds));
      assertThat(avoided(A)).isZero();
      timeOver(A, 1);
    }
    board.answered(A);
    pass(Duration.ofMillis(1));
    timeOver(A, 3);
    assertThat(avoided(A)).isEqualTo(AVOID);
  }

  @Test
  void aLateJobSaysNothingOfAnInstanceThatAnswersOthers() {
    for (int i = 0; i < 10; i++) {
      long sentAt = now;
      board.started(A);
      pass(Duration.ofSeconds(1));
      board.answered(A);
      assertThat(board.timeOver(A, sentAt, "too late")).isNull();
      board.ended(A, sentAt);
    }
    assertThat(board.candidates(BOTH)).isEqualTo(BOTH);
  }

  @Test
  void whereNoneAnswersAllGetJobs() {
    timeOver(A, 3);
    timeOver(B, 3);
    assertThat(board.candidates(BOTH)).isEqualTo(BOTH);
    assertThat(board.free(BOTH)).isEqualTo(200);
    assertThat(avoided(A)).isZero();
    assertThat(board.candidates(List.of(A))).containsExactly(A);
  }

  @Test
  void nobodyIsKeptWaitingForAnInstanceThatIsNotReached() {
    board.avoid(A, AVOID, "refused");
    assertThat(board.serving(BOTH)).containsExactly("b");
    pass(AVOID);
    board.started(A);
    assertThat(board.serving(BOTH)).containsExactly("b");
    board.reached(A);
    assertThat(board.serving(BOTH)).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void whyItIsLeftAloneIsShown() {
    timeOver(A, 3);
    assertThat(lastCall(A).reached()).isFalse();
    assertThat(lastCall(A).reason()).isEqualTo("too late");
    board.answered(A);
    assertThat(lastCall(A).reached()).isTrue();
    assertThat(lastCall(A).reason()).isNull();
  }

  private InstanceState.LastCall lastCall(WorkerInstance instance) {
    return Objects.requireNonNull(board.state(instance, BOTH, Instant.EPOCH).lastCall());
  }
}
