package io.punctual.server.dispatch.circuit;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CircuitTest {

  private static final QueueName QUEUE = new QueueName("shop", "order.close");
  private static final QueueName OTHER = new QueueName("shop", "order.remind");
  private static final QueueName FOREIGN = new QueueName("bank", "order.close");
  private static final Duration PAUSE = Duration.ofSeconds(5);
  private static final int MANY = 1_000_000;

  private long now = -7;
  private Set<String> serving = Set.of("a");
  private Circuits circuits = new Circuits(10, PAUSE, queue -> serving, () -> now);

  private void pass(Duration time) {
    now += time.toNanos();
  }

  private int free() {
    return circuits.free(QUEUE, MANY);
  }

  private Circuit.Ticket send() {
    return circuits.started(QUEUE, 0);
  }

  private void fail(QueueName queue, int times) {
    for (int i = 0; i < times; i++) {
      circuits.started(queue, 0).failed("a");
    }
  }

  private void givenOpen() {
    fail(QUEUE, 10);
    assertThat(circuits.open()).containsExactly(QUEUE);
  }

  @Test
  void itOpensWhenSoManyFailedInARowAndProbesAfterThePause() {
    fail(QUEUE, 9);
    send().succeeded();
    fail(QUEUE, 9);
    assertThat(free()).isEqualTo(MANY);
    fail(QUEUE, 1);
    assertThat(circuits.isOpen(QUEUE)).isTrue();

    pass(PAUSE.minusNanos(1));
    assertThat(free()).isZero();
    pass(Duration.ofNanos(1));
    assertThat(free()).isOne();
    Circuit.Ticket probe = send();
    assertThat(free()).isZero();
    probe.succeeded();
    assertThat(circuits.open()).isEmpty();
  }

  @Test
  void whatWasSentBeforeItOpenedIsNotWaitedFor() {
    List<Circuit.Ticket> before = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      before.add(send());
    }
    givenOpen();

    pass(PAUSE);
    assertThat(free()).isOne();
    send().succeeded();
    // Nor while it is eased in.
    assertThat(free()).isEqualTo(4);
    before.forEach(Circuit.Ticket::succeeded);
    assertThat(free()).isEqualTo(4);
  }

  @Test
  void anAnswerToWhatWasSentBeforeItOpenedIsNoResultOfTheProbe() {
    Circuit.Ticket good = send();
    Circuit.Ticket bad = send();
    Circuit.Ticket never = send();
    givenOpen();
    pass(PAUSE);
    Circuit.Ticket probe = send();

    good.succeeded();
    assertThat(circuits.isOpen(QUEUE)).isTrue();
    bad.failed("a");
    never.withdrawn();
    assertThat(free()).isZero();
    pass(PAUSE.minusNanos(1));
    probe.succeeded();
    assertThat(circuits.isOpen(QUEUE)).isFalse();
  }

  @Test
  void aFailureFromBeforeDoesNotOpenItAgain() {
    List<Circuit.Ticket> before = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      before.add(send());
    }
    givenOpen();
    pass(PAUSE);
    send().succeeded();

    before.forEach(ticket -> ticket.failed("a"));
    assertThat(circuits.isOpen(QUEUE)).isFalse();
  }

  @Test
  void aProbeThatTakesLongerThanThePauseIsFollowedByAnother() {
    givenOpen();
    pass(PAUSE);
    Circuit.Ticket slow = send();
    pass(PAUSE.minusNanos(1));
    assertThat(free()).isZero();
    pass(Duration.ofNanos(1));
    assertThat(free()).isOne();
    Circuit.Ticket another = send();
    assertThat(free()).isZero();

    // It was sent since: what it says counts still.
    slow.succeeded();
    assertThat(circuits.isOpen(QUEUE)).isFalse();
    another.succeeded();
    assertThat(free()).isEqualTo(5);
  }

  @Test
  void aProbeThatWasNotSentIsFollowedByAnotherAtOnce() {
    givenOpen();
    pass(PAUSE);
    Circuit.Ticket probe = send();
    assertThat(free()).isZero();
    probe.withdrawn();
    assertThat(free()).isOne();
    assertThat(circuits.isOpen(QUEUE)).isTrue();
  }

  @Test
  void thePauseDoublesUpToAMinute() {
    givenOpen();
    for (int seconds : new int[] {5, 10, 20, 40, 60, 60}) {
      pass(Duration.ofSeconds(seconds).minusNanos(1));
      assertThat(free()).isZero();
      pass(Duration.ofNanos(1));
      assertThat(free()).isOne();
      send().failed("a");
    }
    pass(Duration.ofMinutes(1));
    send().succeeded();

    fail(QUEUE, 10);
    pass(PAUSE);
    assertThat(free()).isOne();
  }

  @Test
  void aPauseOfMoreThanAMinuteStaysAsItIs() {
    circuits = new Circuits(10, Duration.ofMinutes(10), queue -> serving, () -> now);
    givenOpen();
    for (int i = 0; i < 3; i++) {
      pass(Duration.ofMinutes(10).minusNanos(1));
      assertThat(free()).isZero();
      pass(Duration.ofNanos(1));
      assertThat(free()).isOne();
      send().failed("a");
    }
  }

  @Test
  void itIsEasedInByOneMoreForEachThatSucceeds() {
    givenOpen();
    pass(PAUSE);
    send().succeeded();

    assertThat(free()).isEqualTo(4);
    List<Circuit.Ticket> round = List.of(send(), send(), send(), send());
    assertThat(free()).isZero();
    round.forEach(Circuit.Ticket::succeeded);
    assertThat(free()).isEqualTo(8);
    for (int i = 0; i < 1_000; i++) {
      send().succeeded();
    }
    assertThat(free()).isEqualTo(MANY);
  }

  @Test
  void longJobsHoldNobodyUpWhileItIsEasedIn() {
    givenOpen();
    pass(PAUSE);
    send().succeeded();
    for (int i = 0; i < 4; i++) {
      send();
    }
    assertThat(free()).isZero();
    pass(PAUSE.minusMillis(1));
    Circuit.Ticket other = circuits.started(QUEUE, 0);
    pass(Duration.ofMillis(1));
    // Those that did not fail meanwhile count as if they had succeeded.
    assertThat(free()).isEqualTo(7);
    other.succeeded();
    assertThat(free()).isEqualTo(9);
  }

  @Test
  void aQuestionChangesNothing() {
    Circuit circuit = new Circuit(QUEUE, 10, PAUSE, new FailureStreak(), () -> serving, () -> now);
    // Late: four go out at first.
    for (int i = 0; i < 4; i++) {
      var unused = circuit.started(PAUSE.toMillis());
    }
    pass(Duration.ofSeconds(1));
    Circuit.Ticket young = circuit.started(0);
    pass(PAUSE.minusSeconds(1));
    // The first four are not waited for any longer; only a question tells so meanwhile.
    assertThat(circuit.free()).isEqualTo(7);
    assertThat(circuit.free()).isEqualTo(7);
    young.withdrawn();
    assertThat(circuit.free()).isEqualTo(8);
    assertThat(circuit.isClean()).isFalse();

    pass(PAUSE);
    assertThat(circuit.free()).isEqualTo(4);
    assertThat(circuit.isClean()).isTrue();
    pass(PAUSE.negated());
    assertThat(circuit.free()).as("as before the question").isEqualTo(8);
  }

  @Test
  void afterARestAFewShowWhetherTheyAreLate() {
    assertThat(free()).isEqualTo(4);
    send();
    assertThat(free()).isEqualTo(MANY);
    pass(PAUSE.minusNanos(1));
    assertThat(free()).isEqualTo(MANY);
    pass(Duration.ofNanos(1));
    assertThat(free()).isEqualTo(4);
    send().succeeded();
    assertThat(free()).isEqualTo(MANY);
  }

  @Test
  void aBacklogIsEasedIn() {
    List<Circuit.Ticket> first = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      first.add(circuits.started(QUEUE, PAUSE.toMillis()));
    }
    assertThat(free()).isZero();
    first.get(0).succeeded();
    assertThat(free()).isEqualTo(2);
    first.get(1).failed("a");
    assertThat(free()).isEqualTo(3);
    for (int i = 0; i < 1_000; i++) {
      circuits.started(QUEUE, 60_000).succeeded();
    }
    assertThat(free()).isEqualTo(MANY);
  }

  @Test
  void jobsThatAreLateWhileOthersGoOutAreNoBacklog() {
    send();
    pass(PAUSE.minusNanos(1));
    circuits.started(QUEUE, 60_000);
    assertThat(free()).isEqualTo(MANY);
  }

  @Test
  void whatIsLateByLessIsNoBacklog() {
    circuits.started(QUEUE, PAUSE.toMillis() - 1);
    assertThat(free()).isEqualTo(MANY);
  }

  @Test
  void anEndIsAUseAsABeginIs() {
    Circuit.Ticket lengthy = send();
    pass(PAUSE);
    lengthy.succeeded();
    assertThat(free()).isEqualTo(MANY);
  }

  @Test
  void aFailingQueueLeavesTheOthersAlone() {
    fail(QUEUE, 500);

    assertThat(circuits.free(OTHER, MANY)).isEqualTo(4);
    List<Circuit.Ticket> before = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      before.add(circuits.started(OTHER, 0));
    }
    before.forEach(Circuit.Ticket::succeeded);
    fail(OTHER, 9);
    assertThat(circuits.free(OTHER, MANY)).isEqualTo(MANY);
    assertThat(circuits.open()).containsExactly(QUEUE);
  }

  @Test
  void anApplicationInWhichEverythingFailsUsesUpNoMoreThanOneQueueWould() {
    fail(QUEUE, 5);
    fail(OTHER, 5);
    assertThat(circuits.open()).containsExactly(OTHER);
    fail(QUEUE, 1);
    assertThat(circuits.open()).containsExactly(QUEUE, OTHER);
    fail(FOREIGN, 9);
    assertThat(circuits.isOpen(FOREIGN)).isFalse();

    // Each of them closes by itself, and a success of any ends the row.
    pass(PAUSE);
    circuits.started(OTHER, 0).succeeded();
    assertThat(circuits.open()).containsExactly(QUEUE);
    fail(OTHER, 9);
    assertThat(circuits.open()).containsExactly(QUEUE);
  }

  @Test
  void itNeverOpensWhereThatIsWanted() {
    circuits = new Circuits(0, PAUSE, queue -> serving, () -> now);
    fail(QUEUE, 100_000);
    assertThat(free()).isEqualTo(MANY);
    assertThat(circuits.open()).isEmpty();
  }

  private void lose(String instance, int times) {
    for (int i = 0; i < times; i++) {
      circuits.started(QUEUE, 0).unknown(instance);
    }
  }

  @Test
  void lostAnswersOfTheOnlyInstanceCountEach() {
    lose("a", 9);
    assertThat(circuits.open()).isEmpty();
    lose("a", 1);
    assertThat(circuits.open()).containsExactly(QUEUE);
  }

  @Test
  void whatOneOfSeveralInstancesTakesToItsGraveCountsAsOne() {
    serving = Set.of("a", "b");
    lose("a", 500);
    assertThat(circuits.open()).isEmpty();
    fail(OTHER, 8);
    assertThat(circuits.open()).isEmpty();
    assertThat(free()).isEqualTo(MANY);
  }

  @Test
  void lostAnswersCountEachOnceNoInstanceIsLeftThatHasNotFailed() {
    serving = Set.of("a", "b");
    lose("a", 20);
    lose("b", 1);
    assertThat(circuits.open()).containsExactly(QUEUE);
  }

  @Test
  void whatEveryoneIsNoLongerSentToNeedNotFail() {
    serving = Set.of("a", "b");
    lose("a", 20);
    // The other one is not reached.
    serving = Set.of("a");
    lose("a", 1);
    assertThat(circuits.open()).containsExactly(QUEUE);
  }

  @Test
  void failuresThatAreSaidCountEachWhoeverSaysThem() {
    serving = Set.of("a", "b");
    lose("b", 30);
    fail(QUEUE, 8);
    assertThat(circuits.open()).isEmpty();
    fail(QUEUE, 1);
    assertThat(circuits.open()).containsExactly(QUEUE);
    serving = Set.of("a", "b", "c");
    fail(OTHER, 10);
    assertThat(circuits.open()).containsExactly(QUEUE, OTHER);
  }
}
