package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class InFlightTest {

  private final DispatchFixture fixture = new DispatchFixture(2);
  private final FakeDelivery delivery = new FakeDelivery("job");

  private InFlight sent() {
    InFlight inFlight = fixture.open(0, delivery).get(0);
    inFlight.sending(true);
    return inFlight;
  }

  private static final Map<String, Consumer<InFlight>> ENDS =
      Map.of(
          "done", InFlight::done,
          "failed at worker-0 for PT1S: no", one -> one.failed("no", Duration.ofSeconds(1)),
          "deferred PT1H", one -> one.deferred(Duration.ofHours(1)),
          "rejected at worker-0: never", one -> one.rejected("never"),
          "undeliverable at worker-0: not here", one -> one.refused("not here"),
          "unknown at worker-0, TIME_OVER, counts: late", one -> one.timeOver("late"),
          "unknown at worker-0, ANSWER_LOST, counts: cut", one -> one.connectionBroke("cut"),
          "unknown at worker-0, ANSWER_LOST, counts: odd", one -> one.badAnswer("odd"));

  static Stream<String> ends() {
    return ENDS.keySet().stream().sorted();
  }

  @ParameterizedTest
  @CsvSource({
    "failed at worker-0 for PT1S: no, FAILED",
    "rejected at worker-0: never, REJECTED",
    "undeliverable at worker-0: not here,",
    "deferred PT1H,",
    "done, DONE"
  })
  void whatRanCountsForTheInstance(String told, @Nullable String counted) {
    InFlight inFlight = sent();
    Objects.requireNonNull(ENDS.get(told)).accept(inFlight);
    assertThat(fixture.attempts)
        .isEqualTo(counted == null ? List.of() : List.of(counted + " at worker-0"));
  }

  @ParameterizedTest
  @MethodSource("lost")
  void whatEndedWithoutAnAnswerCountsAsUnknown(String told) {
    InFlight inFlight = sent();
    Objects.requireNonNull(ENDS.get(told)).accept(inFlight);
    inFlight.done();
    assertThat(fixture.attempts).containsExactly("UNKNOWN at worker-0");
    assertThat(
            fixture
                .tracker
                .state(inFlight.instance(), List.of(), Instant.EPOCH)
                .attempts()
                .failed())
        .isOne();
  }

  static Stream<String> lost() {
    return ends().filter(end -> end.startsWith("unknown"));
  }

  @ParameterizedTest
  @MethodSource("ends")
  void theFirstEndIsToldOnceToEachAndBooksTheJobOut(String told) {
    InFlight inFlight = sent();
    assertThat(fixture.free(0)).isEqualTo(9);
    assertThat(inFlight.isEnded()).isFalse();

    Objects.requireNonNull(ENDS.get(told)).accept(inFlight);

    assertThat(inFlight.isEnded()).isTrue();
    assertThat(delivery.told()).containsExactly(told);
    assertThat(fixture.tracker.inFlight()).isZero();
    assertThat(fixture.told).containsExactly(FakeDelivery.QUEUE);
    for (Map.Entry<String, Consumer<InFlight>> another : ENDS.entrySet()) {
      if (!another.getKey().equals("done")) {
        another.getValue().accept(inFlight);
      }
    }
    assertThat(inFlight.withdraw()).isFalse();
    assertThat(delivery.told()).containsExactly(told);
    assertThat(fixture.told).hasSize(1);
    fixture.assertEmpty();
  }

  @ParameterizedTest
  @MethodSource("ends")
  void aJobWhoseDeliveryThrowsIsBookedOutAsWell(String told) {
    InFlight inFlight = sent();
    delivery.unendable();

    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> Objects.requireNonNull(ENDS.get(told)).accept(inFlight));

    assertThat(delivery.told()).containsExactly(told);
    assertThat(fixture.tracker.inFlight()).isZero();
    assertThat(fixture.told).containsExactly(FakeDelivery.QUEUE);
    fixture.assertEmpty();
  }

  @Test
  void aDeliveryIsEndedThoughOtherSchedulersCannotBeAskedForADefect() {
    fixture.marks.haveDefect();

    assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> sent().connectionBroke("cut"));

    assertThat(delivery.told()).containsExactly("unknown at worker-0, ANSWER_LOST: cut");
    fixture.assertEmpty();
  }

  @Test
  void aJobThatCannotBeBookedInTakesNoCapacity() {
    delivery.unreadable();

    assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> fixture.open(0, delivery));

    fixture.assertEmpty();
  }

  @Test
  void aLateDoneIsPassedOnAndBooksNothingOutAgain() {
    InFlight inFlight = sent();
    inFlight.timeOver("late");

    inFlight.done();

    assertThat(delivery.told())
        .containsExactly("unknown at worker-0, TIME_OVER, counts: late", "done");
    assertThat(fixture.free(0)).isEqualTo(10);
    fixture.assertEmpty();
  }

  @Test
  void oneThatSharesItsCallCountsOnlyByItsOwnAnswer() {
    List<InFlight> both = fixture.open(0, delivery, new FakeDelivery("other"));
    both.forEach(one -> one.sending(false));

    both.get(0).badAnswer("odd");
    both.get(1).done();

    assertThat(delivery.told()).containsExactly("unknown at worker-0, ANSWER_LOST: odd");
    fixture.assertEmpty();
  }

  @Test
  void whatWasAtAnInstanceWhenItsConnectionsBrokeCountsNoAttempt() {
    FakeDelivery other = new FakeDelivery("other");
    FakeDelivery later = new FakeDelivery("later");
    List<InFlight> both = fixture.open(0, delivery, other);
    both.forEach(one -> one.sending(true));

    both.get(0).connectionBroke("cut");
    fixture.now += Duration.ofMillis(900).toNanos();
    both.get(1).connectionBroke("cut");
    fixture.now += 1;
    InFlight alone = fixture.open(0, later).get(0);
    alone.sending(true);
    alone.connectionBroke("cut");

    assertThat(delivery.told()).containsExactly("unknown at worker-0, ANSWER_LOST: cut");
    assertThat(other.told()).containsExactly("unknown at worker-0, ANSWER_LOST: cut");
    // It came behind those, and nothing else was there.
    assertThat(later.told()).containsExactly("unknown at worker-0, ANSWER_LOST, counts: cut");
    fixture.assertEmpty();
  }

  @Test
  void aJobCountsNoAttemptIfAnotherSchedulerLostItsConnectionsToTheInstanceToo() {
    fixture.marks.breaksElsewhere("shop worker-0");

    sent().connectionBroke("cut");

    assertThat(delivery.told()).containsExactly("unknown at worker-0, ANSWER_LOST: cut");
    fixture.assertEmpty();
  }

  @Test
  void anAttemptCountsIfAnotherSchedulersConnectionBrokeMoreThanASecondBefore() {
    fixture.marks.brokeElsewhere("shop worker-0");
    fixture.now += Duration.ofMillis(1_001).toNanos();

    sent().connectionBroke("cut");

    assertThat(delivery.told()).containsExactly("unknown at worker-0, ANSWER_LOST, counts: cut");
    fixture.assertEmpty();
  }

  @Test
  void aConnectionOfAnotherSchedulerThatBrokeWithinTheSecondBeforeWasToTheSameProcess() {
    fixture.marks.brokeElsewhere("shop worker-0");
    fixture.now += Duration.ofSeconds(1).toNanos();

    sent().connectionBroke("cut");

    assertThat(delivery.told()).containsExactly("unknown at worker-0, ANSWER_LOST: cut");
    fixture.assertEmpty();
  }

  @Test
  void aJobCountsNoAttemptIfItIsNotKnownWhetherAnotherSchedulerHadJobsThere() {
    fixture.marks.goAway();

    sent().connectionBroke("cut");

    assertThat(delivery.told()).containsExactly("unknown at worker-0, ANSWER_LOST: cut");
    fixture.assertEmpty();
  }

  @Test
  void otherSchedulersHearOnceOfManyConnectionsThatBreakTogether() {
    List<InFlight> both = fixture.open(0, delivery, new FakeDelivery("other"));
    both.forEach(one -> one.sending(true));

    both.forEach(one -> one.connectionBroke("cut"));

    assertThat(fixture.marks.notes()).isEqualTo(1);
    fixture.assertEmpty();
  }

  @Test
  void aConnectionToAnotherInstanceSaysNothing() {
    InFlight other = fixture.open(1, new FakeDelivery("other")).get(0);
    other.sending(true);

    sent().connectionBroke("cut");

    assertThat(delivery.told()).containsExactly("unknown at worker-0, ANSWER_LOST, counts: cut");
    other.done();
    fixture.assertEmpty();
  }

  @Test
  void oneThatWasNotSentIsItsCallersAgainAndNothingIsRemembered() {
    InFlight inFlight = sent();

    assertThat(inFlight.withdraw()).isTrue();

    assertThat(delivery.told()).isEmpty();
    assertThat(fixture.affinity.wish(delivery.incarnation())).isEqualTo(InstanceAffinity.Wish.NONE);
    fixture.assertEmpty();
  }

  @Test
  void aLostAnswerIsAskedForAtTheSameInstanceAndALateOneAtAnother() {
    sent().connectionBroke("cut");
    assertThat(fixture.affinity.wish(delivery.incarnation()).preferred()).isEqualTo("worker-0");
    sent().timeOver("late");
    assertThat(fixture.affinity.wish(delivery.incarnation()).unwanted()).isEqualTo("worker-0");
    fixture.assertEmpty();
  }

  @Test
  void moreTimeIsAskedForAndIsAnAnswerOfTheInstance() {
    InFlight inFlight = sent();
    assertThat(inFlight.extension()).isNull();

    inFlight.extend(Duration.ofMinutes(5));

    assertThat(inFlight.extension()).isBetween(Duration.ofMinutes(4), Duration.ofMinutes(5));
    assertThat(delivery.told()).containsExactly("extend PT5M");
    assertThat(fixture.tracker.hasAnsweredSince(fixture.instances.get(0), inFlight.sentAt()))
        .isTrue();
    inFlight.done();
    inFlight.extend(Duration.ofMinutes(5));
    assertThat(delivery.told()).containsExactly("extend PT5M", "done");
    fixture.assertEmpty();
  }

  @Test
  void anInstanceThatAnswersNothingInTimeGetsNoMore() {
    List<InFlight> three =
        fixture.open(0, new FakeDelivery("a"), new FakeDelivery("b"), new FakeDelivery("c"));
    three.forEach(one -> one.sending(true));
    fixture.now += Duration.ofSeconds(20).toNanos();

    three.forEach(one -> one.timeOver("late"));

    assertThat(fixture.tracker.candidates(fixture.instances))
        .containsExactly(fixture.instances.get(1));
    fixture.assertEmpty();
  }
}
