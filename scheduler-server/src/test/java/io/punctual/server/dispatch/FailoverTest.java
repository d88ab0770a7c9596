package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.callback.Attempt;
import io.punctual.server.dispatch.callback.CallbackProtocol;
import io.punctual.server.dispatch.callback.NotSent;
import io.punctual.server.dispatch.callback.NotSentException;
import io.punctual.server.registry.WorkerInstance;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FailoverTest {

  private final DispatchFixture fixture = new DispatchFixture(7);
  private final List<String> called = new ArrayList<>();

  @AfterEach
  void nothingIsLeft() {
    fixture.assertEmpty();
  }

  /** Calls are written down; what it does decides how they end. */
  private CallbackProtocol protocol(Behaviour behaviour) {
    return new CallbackProtocol() {
      @Override
      public boolean sharesCalls() {
        return true;
      }

      @Override
      public void call(WorkerInstance instance, List<? extends Attempt> attempts, Runnable taken) {
        called.add(instance.id());
        behaviour.call(instance, attempts, taken);
      }
    };
  }

  private interface Behaviour {
    void call(WorkerInstance instance, List<? extends Attempt> attempts, Runnable taken);
  }

  private static NotSentException refused() {
    return NotSent.byInstance("no connection: refused", DispatchFixture.AVOID);
  }

  private static Behaviour all(Consumer<Attempt> end) {
    return (instance, attempts, taken) -> {
      taken.run();
      attempts.forEach(end);
    };
  }

  private static FakeDelivery[] jobs(int count) {
    FakeDelivery[] jobs = new FakeDelivery[count];
    for (int i = 0; i < count; i++) {
      jobs[i] = new FakeDelivery("job-" + i);
    }
    return jobs;
  }

  @Test
  void theFirstInstanceThatTakesTheGroupRunsIt() {
    FakeDelivery[] jobs = jobs(3);

    fixture
        .failover(
            protocol(
                (instance, attempts, taken) -> {
                  if (called.size() < 3) {
                    throw refused();
                  }
                  taken.run();
                  attempts.forEach(Attempt::done);
                }),
            bound -> 0)
        .deliver(fixture.open(0, jobs));

    assertThat(called).hasSize(3).doesNotHaveDuplicates();
    assertThat(jobs).allSatisfy(job -> assertThat(job.told()).containsExactly("done"));
  }

  @Test
  void afterFourCallsTheJobsGoBackAndTheInstanceThatWasNotCalledHasItsCapacity() {
    FakeDelivery[] jobs = jobs(4);

    fixture
        .failover(
            protocol(
                (instance, attempts, taken) -> {
                  throw refused();
                }),
            bound -> 0)
        .deliver(fixture.open(0, jobs));

    assertThat(called).hasSize(Failover.MAX_CALLS).doesNotHaveDuplicates();
    String last = called.get(3);
    assertThat(jobs)
        .allSatisfy(
            job ->
                assertThat(job.told())
                    .containsExactly(
                        "undeliverable at " + last + " for PT0S: no connection: refused"));
    for (int i = 0; i < 7; i++) {
      boolean tried = called.contains("worker-" + i);
      assertThat(fixture.free(i)).isEqualTo(tried ? 0 : 10);
    }
  }

  @Test
  void whereNoOtherInstanceIsLeftTheJobsGoBackAtOnce() {
    while (fixture.instances.size() > 1) {
      fixture.instances.remove(1);
    }
    FakeDelivery[] jobs = jobs(1);

    fixture
        .failover(
            protocol(
                (instance, attempts, taken) -> {
                  throw refused();
                }),
            bound -> 0)
        .deliver(fixture.open(0, jobs));

    assertThat(called).containsExactly("worker-0");
    assertThat(jobs[0].told()).hasSize(1);
    assertThat(jobs[0].told().get(0)).startsWith("undeliverable at worker-0");
  }

  @Test
  void aDeliveryWhoseLeaseIsOverIsGivenBackAndNotSent() {
    FakeDelivery held = new FakeDelivery("held");
    FakeDelivery over = new FakeDelivery("over").loseLease();

    fixture.failover(protocol(all(Attempt::done)), bound -> 0).deliver(fixture.open(0, held, over));

    assertThat(held.told()).containsExactly("done");
    assertThat(over.told()).containsExactly("released");
    assertThat(called).containsExactly("worker-0");
  }

  @Test
  void whereNoLeaseIsHeldNothingIsCalled() {
    FakeDelivery over = new FakeDelivery("over").loseLease();

    fixture.failover(protocol(all(Attempt::done)), bound -> 0).deliver(fixture.open(0, over));

    assertThat(over.told()).containsExactly("released");
    assertThat(called).isEmpty();
  }

  @Test
  void aLeaseThatIsLostWhileTheCallWaitsForItsConnectionHoldsTheOthersUpForNoOtherInstance() {
    FakeDelivery held = new FakeDelivery("held");
    FakeDelivery over = new FakeDelivery("over");

    fixture
        .failover(
            protocol(
                (instance, attempts, taken) -> {
                  if (called.size() == 1) {
                    over.loseLease();
                    throw NotSent.byLease();
                  }
                  attempts.forEach(Attempt::done);
                }),
            bound -> 0)
        .deliver(fixture.open(0, held, over));

    assertThat(called).containsExactly("worker-0", "worker-0");
    assertThat(held.told()).containsExactly("done");
    assertThat(over.told()).containsExactly("released");
    assertThat(fixture.free(0)).isEqualTo(10);
  }

  @Test
  void aTypeThatAnInstanceDoesNotRunAnyMoreIsSentElsewhere() {
    FakeDelivery job = new FakeDelivery("job");

    fixture
        .failover(
            protocol(
                (instance, attempts, taken) -> {
                  if (called.size() == 1) {
                    throw NotSent.byType("HTTP 410", Duration.ofMinutes(1));
                  }
                  attempts.forEach(Attempt::done);
                }),
            bound -> 0)
        .deliver(fixture.open(0, job));

    assertThat(called).hasSize(2);
    assertThat(job.told()).containsExactly("done");
    assertThat(fixture.tracker.free(fixture.instances.get(0), "job")).isZero();
    assertThat(fixture.tracker.free(fixture.instances.get(0), "other")).isEqualTo(10);
  }

  @Test
  void aJobWhoseTimeIsOverMeanwhileDoesNotMoveOn() {
    FakeDelivery late = new FakeDelivery("late");
    FakeDelivery other = new FakeDelivery("other");

    fixture
        .failover(
            protocol(
                (instance, attempts, taken) -> {
                  if (called.size() == 1) {
                    attempts.get(0).timeOver("too late");
                    throw refused();
                  }
                  attempts.forEach(Attempt::done);
                }),
            bound -> 0)
        .deliver(fixture.open(0, late, other));

    assertThat(late.told()).containsExactly("unknown at worker-0, TIME_OVER: too late");
    assertThat(other.told()).containsExactly("done");
  }

  @Test
  void wherePartOfAGroupCannotBeBookedInAllOfItGoesBackAndTheInstanceHasItsCapacity() {
    FakeDelivery[] jobs = jobs(3);

    fixture
        .failover(
            protocol(
                (instance, attempts, taken) -> {
                  jobs[2].unreadable();
                  throw refused();
                }),
            bound -> 0)
        .deliver(fixture.open(0, jobs));

    assertThat(called).containsExactly("worker-0");
    assertThat(jobs)
        .allSatisfy(
            job ->
                assertThat(job.told())
                    .containsExactly("undeliverable at worker-0 for PT0S: no connection: refused"));
    for (int i = 1; i < 7; i++) {
      assertThat(fixture.free(i)).isEqualTo(10);
    }
  }

  @Test
  void aProtocolThatEndsNoJobOrFailsLeavesNoneBehind() {
    FakeDelivery forgotten = new FakeDelivery("forgotten");
    FakeDelivery broken = new FakeDelivery("broken");

    fixture
        .failover(protocol((instance, attempts, taken) -> {}), bound -> 0)
        .deliver(fixture.open(0, forgotten));
    fixture
        .failover(
            protocol(
                (instance, attempts, taken) -> {
                  throw new AssertionError("a defect");
                }),
            bound -> 0)
        .deliver(fixture.open(0, broken));

    assertThat(forgotten.told()).hasSize(1);
    assertThat(forgotten.told().get(0)).startsWith("unknown at worker-0, ANSWER_LOST");
    assertThat(broken.told()).hasSize(1);
    assertThat(broken.told().get(0)).startsWith("unknown at worker-0, ANSWER_LOST");
  }
}
