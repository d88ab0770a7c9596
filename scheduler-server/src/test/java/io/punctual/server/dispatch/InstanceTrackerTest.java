package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class InstanceTrackerTest {

  private static final Duration AVOID = Duration.ofSeconds(3);
  private static final Duration TAKEN = Duration.ofMillis(1_500);
  private static final WorkerInstance A = instance("a");
  private static final WorkerInstance B = instance("b");
  private static final List<WorkerInstance> BOTH = List.of(A, B);

  private long now = -7;
  private final List<String> gone = new ArrayList<>();
  private final InstanceTracker tracker = new InstanceTracker(AVOID, TAKEN, () -> now);

  private static WorkerInstance instance(String id) {
    return instance(id, null);
  }

  private static WorkerInstance instance(String id, @Nullable String release) {
    WorkerMetadata metadata =
        new WorkerMetadata(Set.of("job"), "/callback", WorkerMetadata.BATCH, 100, release);
    return new WorkerInstance(id, "shop", URI.create("http://" + id + "/"), metadata, "eureka");
  }

  private void pass(Duration time) {
    now += time.toNanos();
  }

  /** So many jobs that nobody answers within a second. */
  private void timeOver(WorkerInstance instance, int jobs) {
    long sentAt = now;
    List<InstanceTracker.Slot> slots =
        IntStream.range(0, jobs).mapToObj(i -> tracker.open(instance, false)).toList();
    pass(Duration.ofSeconds(1));
    for (InstanceTracker.Slot slot : slots) {
      var unused = tracker.timeOver(instance, sentAt, "too late");
      slot.close();
    }
  }

  private Duration avoided(WorkerInstance instance) {
    Instant until = tracker.state(instance, BOTH, Instant.EPOCH).avoidedUntil();
    return until == null ? Duration.ZERO : Duration.between(Instant.EPOCH, until);
  }

  @Test
  void aNewReleaseUnderAnOldIdIsNotToBlameForTheOneBeforeIt() {
    WorkerInstance first = instance("a", "1");
    WorkerInstance second = instance("a", "2");
    InstanceTracker.Slot late = tracker.open(first, false);
    tracker.open(first, false).ended(false, 1);
    assertThat(tracker.state(first, BOTH, Instant.EPOCH).attempts().failed()).isEqualTo(1);

    tracker.open(second, false).ended(true, 1);
    late.ended(false, 1);

    assertThat(tracker.state(second, BOTH, Instant.EPOCH).attempts().failed()).isZero();
    assertThat(tracker.state(second, BOTH, Instant.EPOCH).attempts().ended()).isEqualTo(1);
  }

  @Test
  void anInstanceThatWasNotReachedGetsOneJobFirstAndTheOthersWhenItTookThat() {
    tracker.avoid(A, AVOID, "refused");
    assertThat(tracker.free(A, "job")).isZero();
    pass(AVOID);
    assertThat(tracker.free(A, "job")).isOne();
    var unused = tracker.open(A, false);
    assertThat(tracker.free(A, "job")).isZero();

    tracker.reached(A);
    assertThat(tracker.free(A, "job")).isEqualTo(99);
  }

  @Test
  void aRequestThatWasNotRefusedForAWhileWasTaken() {
    tracker.avoid(A, AVOID, "refused");
    pass(AVOID);
    var unused = tracker.open(A, false);
    pass(TAKEN.minusNanos(1));
    assertThat(tracker.free(A, "job")).isZero();
    pass(Duration.ofNanos(1));
    assertThat(tracker.free(A, "job")).isEqualTo(99);
  }

  @Test
  void whatIsThereStillFromBeforeKeepsNobodyFromProbing() {
    var unused = tracker.open(A, false);
    tracker.avoid(A, AVOID, "overloaded");
    pass(AVOID);
    assertThat(tracker.free(A, "job")).isOne();
  }

  @Test
  void aProbeThatEndsBeforeItIsKnownToBeTakenIsFollowedByAnother() {
    tracker.avoid(A, AVOID, "refused");
    pass(AVOID);
    tracker.open(A, false).close();
    assertThat(tracker.free(A, "job")).isOne();
  }

  @Test
  void anInstanceThatAnswersNoneOfThreeJobsIsPassedOverAndProbedWithOne() {
    timeOver(A, 2);
    assertThat(tracker.candidates(BOTH)).isEqualTo(BOTH);
    timeOver(A, 20);
    assertThat(tracker.candidates(BOTH)).containsExactly(B);
    assertThat(tracker.free(BOTH, "job")).isEqualTo(100);
    assertThat(avoided(A)).isEqualTo(AVOID);

    pass(AVOID);
    assertThat(tracker.candidates(BOTH)).isEqualTo(BOTH);
    assertThat(tracker.free(BOTH, "job")).isEqualTo(101);
    InstanceTracker.Slot probe = tracker.open(A, false);
    assertThat(tracker.candidates(BOTH)).containsExactly(B);
    tracker.answered(A);
    probe.close();
    assertThat(tracker.free(BOTH, "job")).isEqualTo(200);
  }

  @Test
  void whatWasSentBeforeDoesNotEndTheProbe() {
    InstanceTracker.Slot before = tracker.open(A, false);
    timeOver(A, 3);
    pass(AVOID);
    var unused = tracker.open(A, false);
    before.close();
    assertThat(tracker.candidates(BOTH)).containsExactly(B);
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
    tracker.answered(A);
    pass(Duration.ofMillis(1));
    timeOver(A, 3);
    assertThat(avoided(A)).isEqualTo(AVOID);
  }

  @Test
  void aLateJobSaysNothingOfAnInstanceThatAnswersOthers() {
    for (int i = 0; i < 10; i++) {
      InstanceTracker.Slot slot = tracker.open(A, false);
      pass(Duration.ofSeconds(1));
      tracker.answered(A);
      assertThat(tracker.timeOver(A, slot.openedAt(), "too late")).isNull();
      slot.close();
    }
    assertThat(tracker.candidates(BOTH)).isEqualTo(BOTH);
  }

  @Test
  void whereNoneAnswersAllGetJobs() {
    timeOver(A, 3);
    timeOver(B, 3);
    assertThat(tracker.candidates(BOTH)).isEqualTo(BOTH);
    assertThat(tracker.free(BOTH, "job")).isEqualTo(200);
    assertThat(avoided(A)).isZero();
    assertThat(tracker.candidates(List.of(A))).containsExactly(A);
  }

  @Test
  void nobodyIsKeptWaitingForAnInstanceThatIsNotReached() {
    tracker.avoid(A, AVOID, "refused");
    assertThat(tracker.serving(BOTH)).containsExactly("b");
    pass(AVOID);
    var unused = tracker.open(A, false);
    assertThat(tracker.serving(BOTH)).containsExactly("b");
    tracker.reached(A);
    assertThat(tracker.serving(BOTH)).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void whyItIsLeftAloneIsShown() {
    timeOver(A, 3);
    assertThat(lastCall(A).reached()).isFalse();
    assertThat(lastCall(A).reason()).isEqualTo("too late");
    tracker.answered(A);
    assertThat(lastCall(A).reached()).isTrue();
    assertThat(lastCall(A).reason()).isNull();
  }

  private InstanceState.LastCall lastCall(WorkerInstance instance) {
    return Objects.requireNonNull(tracker.state(instance, BOTH, Instant.EPOCH).lastCall());
  }

  @Test
  void anInstanceThatWantsNoMoreJobsOfATypeGetsThoseOfOthers() {
    tracker.retire(A, "job", Duration.ofMinutes(1), "HTTP 410");
    assertThat(tracker.free(A, "job")).isZero();
    assertThat(tracker.free(A, "other")).isEqualTo(100);
    assertThat(tracker.isFree(A)).isTrue();
    assertThat(avoided(A)).isZero();
    pass(Duration.ofMinutes(1));
    assertThat(tracker.free(A, "job")).isEqualTo(100);
  }

  @Test
  void questionsMakeNoInstanceKnown() {
    assertThat(tracker.free(A, "job")).isEqualTo(100);
    assertThat(tracker.free(BOTH, "job")).isEqualTo(200);
    assertThat(tracker.isFree(A)).isTrue();
    assertThat(tracker.serving(BOTH)).containsExactlyInAnyOrder("a", "b");
    assertThat(tracker.size()).isZero();
  }

  @Test
  void aProbeThatWasTakenCountsAsReachedThoughNobodyAskedForCapacity() {
    tracker.avoid(A, AVOID, "refused");
    assertThat(tracker.serving(BOTH)).containsExactly("b");
    pass(AVOID);
    var unused = tracker.open(A, false);
    assertThat(tracker.serving(BOTH)).containsExactly("b");
    pass(TAKEN);
    assertThat(tracker.serving(BOTH)).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void aSlotIsClosedOnce() {
    InstanceTracker.Slot slot = tracker.open(A, false);
    assertThat(tracker.inFlight(A)).isOne();
    slot.close();
    slot.close();
    assertThat(tracker.inFlight(A)).isZero();
    assertThat(tracker.inFlight()).isZero();
  }

  @Test
  void anInstanceThatLeftTheRegistryIsForgottenOnceNoJobIsWithIt() {
    timeOver(A, 3);
    tracker.reached(B);
    InstanceTracker.Slot slot = tracker.open(A, false);
    assertThat(tracker.hanging()).isOne();
    assertThat(tracker.size()).isEqualTo(2);

    tracker.tidy(application -> Set.of("b"), this::gone);
    assertThat(tracker.size()).as("a job is with it").isEqualTo(2);
    assertThat(gone).isEmpty();
    slot.close();
    tracker.tidy(application -> Set.of("b"), this::gone);

    assertThat(tracker.size()).isOne();
    assertThat(gone).containsExactly("shop/a");
    assertThat(tracker.hanging()).isZero();
    // A late end of one that was forgotten harms nothing.
    slot.close();
    assertThat(tracker.inFlight(A)).isZero();
    tracker.tidy(application -> Set.of(), this::gone);
    assertThat(tracker.size()).isZero();
  }

  private void gone(String application, String instance) {
    gone.add(application + "/" + instance);
  }
}
