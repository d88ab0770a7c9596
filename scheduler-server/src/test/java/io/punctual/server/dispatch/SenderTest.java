package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Delivery;
import io.punctual.server.dispatch.callback.Attempt;
import io.punctual.server.dispatch.callback.CallbackProtocol;
import io.punctual.server.registry.WorkerInstance;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of claimed jobs if one of them, or a thread for them, fails. */
class SenderTest {

  private static final String NO_THREAD =
      "undeliverable at : the scheduler could not send it: java.lang.InternalError: no thread";
  private static final String DEFECT =
      "undeliverable at : the scheduler could not send it: java.lang.AssertionError: a defect";

  private final DispatchFixture fixture = new DispatchFixture(2);
  private final List<List<String>> calls = new ArrayList<>();
  private final List<Integer> noThreadFor = new ArrayList<>();
  private int threads;
  private final Sender sender =
      new Sender(
          fixture.inFlights,
          new InstancePicker(fixture.tracker, bound -> 0),
          fixture.failover(protocol(), bound -> 0),
          queue -> fixture.instances,
          application -> {},
          this::run,
          () -> fixture.now);

  private CallbackProtocol protocol() {
    return new CallbackProtocol() {
      @Override
      public boolean sharesCalls() {
        return true;
      }

      @Override
      public void call(WorkerInstance instance, List<? extends Attempt> attempts, Runnable taken) {
        calls.add(attempts.stream().map(attempt -> attempt.delivery().taskId()).toList());
        attempts.forEach(Attempt::done);
      }
    };
  }

  private void run(Runnable task) {
    if (noThreadFor.contains(threads++)) {
      throw new InternalError("no thread");
    }
    task.run();
  }

  @AfterEach
  void nothingIsLeft() {
    fixture.now += Suspects.HOLD.toNanos();
    sender.suspects().look();
    sender.suspects().tidy();
    assertThat(sender.suspects().waiting()).isZero();
    assertThat(sender.suspects().size()).isZero();
    fixture.assertEmpty();
  }

  private void send(FakeDelivery... deliveries) {
    sender.send(FakeDelivery.QUEUE, List.<Delivery>of(deliveries));
  }

  @Test
  void onlyTheGroupForWhichThereIsNoThreadGoesBack() {
    FakeDelivery alone = new FakeDelivery("alone").brokenOnce();
    FakeDelivery first = new FakeDelivery("first");
    FakeDelivery second = new FakeDelivery("second");
    noThreadFor.add(1);

    send(alone, first, second);

    assertThat(alone.told()).containsExactly("done");
    assertThat(first.told()).containsExactly(NO_THREAD);
    assertThat(second.told()).containsExactly("done");
    assertThat(calls).containsExactly(List.of("alone"), List.of("second"));
  }

  @Test
  void onlyTheJobThatCannotBeBookedInGoesBack() {
    FakeDelivery alone = new FakeDelivery("alone").brokenOnce();
    FakeDelivery first = new FakeDelivery("first");
    FakeDelivery unreadable = new FakeDelivery("unreadable").unreadable();
    FakeDelivery last = new FakeDelivery("last");

    send(alone, first, unreadable, last);

    assertThat(unreadable.told()).containsExactly(DEFECT);
    for (FakeDelivery sent : List.of(alone, first, last)) {
      assertThat(sent.told()).containsExactly("done");
    }
  }

  @Test
  void aSuspectGoesBackIfItsInstanceCannotBeReservedForADefect() {
    FakeDelivery suspect = new FakeDelivery("suspect").suspect();
    FakeDelivery other = new FakeDelivery("other");
    fixture.marks.haveDefect();

    send(suspect, other);

    assertThat(suspect.told()).containsExactly(DEFECT);
    assertThat(other.told()).containsExactly("done");
  }

  @Test
  void onlyTheSuspectForWhichThereIsNoThreadGoesBack() {
    List<InFlight> busy = new ArrayList<>(fixture.open(0, new FakeDelivery("x")));
    busy.addAll(fixture.open(1, new FakeDelivery("y")));
    FakeDelivery first = new FakeDelivery("first").suspect();
    FakeDelivery second = new FakeDelivery("second").suspect();
    send(first, second);
    assertThat(sender.suspects().waiting()).isEqualTo(2);
    busy.forEach(InFlight::done);
    noThreadFor.add(0);

    sender.suspects().look();

    assertThat(first.told()).containsExactly(NO_THREAD);
    assertThat(second.told()).containsExactly("done");
  }
}
