package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SuspectsTest {

  private final DispatchFixture fixture = new DispatchFixture(2);
  private final List<InFlight> sent = new ArrayList<>();
  private final List<Suspects.Sent> takenElsewhere = new ArrayList<>();
  private final List<String> released = new ArrayList<>();
  private final Suspects suspects =
      new Suspects(
          fixture.inFlights,
          queue -> fixture.instances,
          this::send,
          this::release,
          () -> fixture.now);
  private boolean defective;

  private void release(String application) {
    if (defective) {
      throw new AssertionError("a defect");
    }
    released.add(application);
  }

  private void send(Suspects.Sent suspect) {
    if (suspect.alone() && !fixture.shared.alone(suspect.inFlight().instance(), () -> {})) {
      takenElsewhere.add(suspect);
    } else {
      sent.add(suspect.inFlight());
    }
  }

  @AfterEach
  void nothingIsLeft() {
    sent.forEach(InFlight::done);
    sent.clear();
    suspects.look();
    fixture.now += Suspects.HOLD.toNanos();
    suspects.look();
    suspects.tidy();
    assertThat(suspects.waiting()).isZero();
    assertThat(suspects.size()).isZero();
    fixture.assertEmpty();
  }

  private static FakeDelivery suspect(String id) {
    return new FakeDelivery(id).suspect();
  }

  private List<String> places() {
    return sent.stream().map(one -> one.delivery().taskId() + "@" + one.instance().id()).toList();
  }

  private void onlyOneInstance() {
    fixture.instances.remove(1);
  }

  private void pass(Duration time) {
    fixture.now += time.toNanos();
    suspects.look();
  }

  @Test
  void aJobWhoseConnectionBrokeTwiceIsASuspectUnlessItOnlyTookTooLongHere() {
    assertThat(suspects.concerns(new FakeDelivery("sound"))).isFalse();
    assertThat(suspects.concerns(new FakeDelivery("once").brokenOnce())).isFalse();
    FakeDelivery slow = suspect("slow");
    assertThat(suspects.concerns(slow)).isTrue();
    InFlight late = fixture.open(0, slow).get(0);
    late.sending(true);
    late.timeOver("late");

    assertThat(suspects.concerns(slow)).isFalse();
  }

  @Test
  void eachInstanceHasOneAtATimeAndTheNextComesWhenThatHasEnded() {
    suspects.add(suspect("a"));
    suspects.add(suspect("b"));
    suspects.add(suspect("c"));
    assertThat(places()).containsExactly("a@worker-0", "b@worker-1");
    assertThat(suspects.waiting()).isEqualTo(1);

    sent.get(1).done();
    suspects.look();

    assertThat(places()).containsExactly("a@worker-0", "b@worker-1", "c@worker-1");
  }

  /** A suspect whose connection broke at worker-0, and again there when it was sent again. */
  private FakeDelivery lostAtTheFirstInstance(String id) {
    FakeDelivery delivery = suspect(id);
    for (int i = 0; i < Suspects.TIMES; i++) {
      InFlight one = fixture.open(0, delivery).get(0);
      one.sending(true);
      one.connectionBroke("cut");
    }
    return delivery;
  }

  @Test
  void oneWhoseAnswerWasLostAtAnInstanceAgainGoesToAnotherOne() {
    suspects.add(lostAtTheFirstInstance("a"));

    assertThat(places()).containsExactly("a@worker-1");
  }

  @Test
  void oneWaitsForAnotherInstanceThoughTheOneThatLostItsAnswersIsIdle() {
    suspects.add(lostAtTheFirstInstance("a"));
    suspects.add(lostAtTheFirstInstance("b"));
    assertThat(places()).containsExactly("a@worker-1");
    assertThat(fixture.free(0)).isEqualTo(10);

    sent.get(0).done();
    suspects.look();

    assertThat(places()).containsExactly("a@worker-1", "b@worker-1");
  }

  @Test
  void oneDrainsAnotherInstanceThoughTheOneThatLostItsAnswersIsIdle() {
    List<InFlight> busy = fixture.open(1, new FakeDelivery("healthy"));
    suspects.add(lostAtTheFirstInstance("a"));
    assertThat(sent).isEmpty();
    assertThat(fixture.free(1)).isZero();
    assertThat(fixture.free(0)).isEqualTo(10);

    busy.forEach(InFlight::done);
    suspects.look();

    assertThat(places()).containsExactly("a@worker-1");
  }

  @Test
  void oneForWhichNoOtherInstanceIsFreeInTimeGoesBackToTheOneThatLostItsAnswers() {
    suspects.add(lostAtTheFirstInstance("a"));
    suspects.add(lostAtTheFirstInstance("b"));
    pass(Suspects.PATIENCE.minusMillis(1));
    assertThat(places()).containsExactly("a@worker-1");

    pass(Duration.ofMillis(1));

    assertThat(places()).containsExactly("a@worker-1", "b@worker-0");
  }

  @Test
  void oneGoesBackToTheIdleInstanceThatLostItsAnswersRatherThanWithOthersToAnotherOne() {
    List<InFlight> busy = fixture.open(1, new FakeDelivery("healthy"));
    suspects.add(lostAtTheFirstInstance("a"));
    assertThat(sent).isEmpty();

    pass(Suspects.PATIENCE);

    assertThat(places()).containsExactly("a@worker-0");
    busy.forEach(InFlight::done);
  }

  @Test
  void whereNoneIsIdleInTimeOneGoesWithOthersToAnInstanceThatLostNoAnswerOfIt() {
    List<InFlight> few = fixture.open(0, new FakeDelivery("x"));
    List<InFlight> more = fixture.open(1, new FakeDelivery("y"), new FakeDelivery("z"));
    suspects.add(lostAtTheFirstInstance("a"));
    assertThat(sent).isEmpty();

    pass(Suspects.PATIENCE);

    assertThat(places()).containsExactly("a@worker-1");
    few.forEach(InFlight::done);
    more.forEach(InFlight::done);
  }

  @Test
  void theOnlyInstanceGetsAJobAgainThoughItLostItsAnswers() {
    onlyOneInstance();

    suspects.add(lostAtTheFirstInstance("a"));

    assertThat(places()).containsExactly("a@worker-0");
  }

  @Test
  void oneWhoseAnswerWasLostAtAnInstanceOnceGoesThereAgainIfThatIsIdle() {
    FakeDelivery delivery = suspect("a");
    InFlight one = fixture.open(1, delivery).get(0);
    one.sending(true);
    one.connectionBroke("cut");

    suspects.add(delivery);

    assertThat(places()).containsExactly("a@worker-1");
  }

  @Test
  void anIdleInstanceIsPreferredAndGetsNoOtherJobsMeanwhile() {
    List<InFlight> busy = fixture.open(0, new FakeDelivery("healthy"));

    suspects.add(suspect("a"));

    assertThat(places()).containsExactly("a@worker-1");
    assertThat(fixture.free(1)).isZero();
    assertThat(fixture.free(0)).isEqualTo(9);
    sent.get(0).done();
    suspects.look();
    assertThat(fixture.free(1)).isEqualTo(10);
    assertThat(released).containsExactly("shop");
    busy.forEach(InFlight::done);
  }

  @Test
  void whereNoneIsIdleOneInstanceIsDrainedForIt() {
    List<InFlight> busy = fixture.open(0, new FakeDelivery("x"), new FakeDelivery("y"));
    List<InFlight> other = fixture.open(1, new FakeDelivery("z"));

    suspects.add(suspect("a"));

    assertThat(sent).isEmpty();
    assertThat(fixture.free(1)).isZero();
    assertThat(fixture.free(0)).isEqualTo(8);
    other.forEach(InFlight::done);
    suspects.look();
    assertThat(places()).containsExactly("a@worker-1");
    busy.forEach(InFlight::done);
  }

  @Test
  void oneThatIsNotAloneInTimeGoesWithOthersAndCountsNoAttempt() {
    onlyOneInstance();
    List<InFlight> busy = fixture.open(0, new FakeDelivery("long"));
    FakeDelivery delivery = suspect("a");
    suspects.add(delivery);
    pass(Suspects.PATIENCE.minusMillis(1));
    assertThat(sent).isEmpty();

    pass(Duration.ofMillis(1));

    assertThat(places()).containsExactly("a@worker-0");
    sent.get(0).sending(true);
    sent.get(0).connectionBroke("cut");
    assertThat(delivery.told()).containsExactly("unknown at worker-0, ANSWER_LOST: cut");
    busy.forEach(InFlight::done);
  }

  @Test
  void theOnlyInstanceGetsOtherJobsHalfOfTheTime() {
    onlyOneInstance();
    suspects.add(suspect("a"));
    assertThat(fixture.free(0)).isZero();
    pass(Duration.ofSeconds(10));
    sent.get(0).done();
    suspects.look();
    assertThat(fixture.free(0)).isEqualTo(10);

    List<InFlight> healthy = fixture.open(0, new FakeDelivery("healthy"));
    suspects.add(suspect("b"));

    assertThat(fixture.free(0)).isEqualTo(9);
    pass(Duration.ofSeconds(9));
    assertThat(fixture.free(0)).isEqualTo(9);
    pass(Duration.ofSeconds(1));
    assertThat(fixture.free(0)).isZero();
    healthy.forEach(InFlight::done);
    suspects.look();
    assertThat(places()).containsExactly("a@worker-0", "b@worker-0");
  }

  @Test
  void oneThatRunsForLongHoldsUpNoOthers() {
    onlyOneInstance();
    suspects.add(suspect("long"));
    FakeDelivery next = suspect("next");
    pass(Suspects.HOLD.minusSeconds(1));
    suspects.add(next);
    assertThat(fixture.free(0)).isZero();

    pass(Duration.ofSeconds(1));

    assertThat(fixture.free(0)).isEqualTo(9);
    pass(Suspects.PATIENCE);
    assertThat(places()).containsExactly("long@worker-0", "next@worker-0");
  }

  @Test
  void oneIsSentAndTheInstanceIsLetGoThoughItsReleaseThrows() {
    onlyOneInstance();
    suspects.add(suspect("long"));
    pass(Suspects.HOLD.minus(Suspects.PATIENCE));
    suspects.add(suspect("next"));
    defective = true;

    pass(Suspects.PATIENCE);

    defective = false;
    assertThat(places()).containsExactly("long@worker-0", "next@worker-0");
    assertThat(fixture.free(0)).isEqualTo(8);
  }

  @Test
  void whereEachInstanceHasOneForLongItIsGivenBackAtNoAttempt() {
    onlyOneInstance();
    suspects.add(suspect("a"));
    FakeDelivery second = suspect("b");
    suspects.add(second);

    pass(Suspects.PATIENCE);

    assertThat(second.told())
        .containsExactly(
            "undeliverable at  for PT5S: connections broke twice while it ran: it waits to be alone at an instance");
  }

  @Test
  void oneWhoseLeaseIsOverIsGivenBackAndNotSent() {
    onlyOneInstance();
    suspects.add(suspect("a"));
    FakeDelivery second = suspect("b");
    suspects.add(second);
    second.loseLease();

    suspects.look();

    assertThat(second.told()).containsExactly("released");
  }

  /** As the dispatcher does, on another thread. */
  private void putBack() {
    List<Suspects.Sent> refused = List.copyOf(takenElsewhere);
    takenElsewhere.clear();
    refused.forEach(suspects::takenElsewhere);
  }

  @Test
  void oneGoesElsewhereIfAnotherSchedulerHasASuspectAtTheInstance() {
    fixture.marks.reserveElsewhere("shop worker-0");

    suspects.add(suspect("a"));
    putBack();

    assertThat(places()).containsExactly("a@worker-1");
  }

  @Test
  void oneWaitsWhileAnotherSchedulerHasASuspectAtTheOnlyInstance() {
    onlyOneInstance();
    fixture.marks.reserveElsewhere("shop worker-0");
    suspects.add(suspect("a"));
    putBack();
    pass(Duration.ofMillis(300));
    putBack();
    assertThat(sent).isEmpty();
    assertThat(suspects.waiting()).isEqualTo(1);

    fixture.marks.release("shop worker-0");
    pass(Duration.ofMillis(300));

    assertThat(places()).containsExactly("a@worker-0");
  }

  @Test
  void oneGoesBackAtNoAttemptIfAnotherSchedulerHasASuspectAtTheOnlyInstanceForLong() {
    onlyOneInstance();
    fixture.marks.reserveElsewhere("shop worker-0");
    FakeDelivery one = suspect("a");
    suspects.add(one);
    putBack();
    while (one.told().isEmpty()) {
      pass(Duration.ofMillis(200));
      putBack();
    }

    assertThat(sent).isEmpty();
    assertThat(one.told())
        .containsExactly(
            "undeliverable at  for PT5S: connections broke twice while it ran: it waits to be alone at an instance");
  }

  @Test
  void aStopGivesBackWhatWaits() {
    onlyOneInstance();
    suspects.add(suspect("a"));
    FakeDelivery second = suspect("b");
    suspects.add(second);

    suspects.close();

    assertThat(second.told()).containsExactly("released");
    FakeDelivery third = suspect("c");
    suspects.add(third);
    assertThat(third.told()).hasSize(1);
  }
}
