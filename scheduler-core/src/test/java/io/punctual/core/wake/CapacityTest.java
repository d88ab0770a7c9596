package io.punctual.core.wake;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.work.Defects;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whoever is refused is woken when anything is given back, and never before. */
class CapacityTest {

  private static final QueueName QUEUE = new QueueName("shop", "mail");

  private IntSupplier offered = () -> 50;
  private IntSupplier offeredInAll = () -> Dispatcher.UNBOUNDED;
  private Function<Bucket, String> nodes = bucket -> "";
  private final Defects defects = new Defects();
  private final Capacity capacity =
      new Capacity(
          new Dispatcher() {
            @Override
            public int capacity(QueueName queue) {
              return offered.getAsInt();
            }

            @Override
            public int capacity() {
              return offeredInAll.getAsInt();
            }

            @Override
            public void dispatch(QueueName queue, List<Delivery> deliveries) {
              throw new IllegalStateException("nothing is claimed here");
            }
          },
          defects,
          1_600,
          bucket -> nodes.apply(bucket));

  private final WakeSignal oneSignal = new WakeSignal();
  private final WakeSignal twoSignal = new WakeSignal();
  private final Capacity.Claimer one = capacity.claimer(new Bucket(QUEUE, 0), oneSignal);
  private final Capacity.Claimer two = capacity.claimer(new Bucket(QUEUE, 1), twoSignal);

  @AfterEach
  void everythingWasGivenBack() {
    assertThat(capacity.inUse()).isEmpty();
  }

  private Capacity.Claimer of(String application, WakeSignal signal) {
    return capacity.claimer(new Bucket(new QueueName(application, "mail"), 0), signal);
  }

  private static boolean raised(WakeSignal signal) {
    return signal.take().capacity();
  }

  @Test
  void whatOneBucketTakesIsNotOfferedToAnotherOneUntilItIsGivenBack() {
    assertThat(one.take(200)).isEqualTo(50);
    assertThat(two.take(200)).isZero();
    assertThat(raised(twoSignal)).isFalse();
    one.give(50);
    assertThat(raised(twoSignal)).isTrue();
    assertThat(raised(oneSignal)).isFalse();
    assertThat(two.take(20)).isEqualTo(20);
    assertThat(one.take(200)).isEqualTo(30);
    one.give(30);
    two.give(20);
    assertThat(raised(oneSignal)).isFalse();
    assertThat(raised(twoSignal)).isFalse();
  }

  @Test
  void queuesThatShareTheDispatchersCapacityTakeNoMoreThanThatTogether() {
    offeredInAll = () -> 60;
    WakeSignal signal = new WakeSignal();
    Capacity.Claimer other = of("other", signal);
    assertThat(one.take(200)).isEqualTo(50);
    assertThat(other.take(200)).isEqualTo(10);
    Capacity.Claimer third = of("third", new WakeSignal());
    assertThat(third.take(200)).isZero();
    other.give(10);
    assertThat(other.take(4)).isEqualTo(4);
    assertThat(third.take(200)).isEqualTo(6);
    assertThat(raised(signal)).isFalse();
    third.give(6);
    other.give(4);
    one.give(50);
  }

  @Test
  void whoeverIsRefusedSinceAnotherQueueHasAllIsWokenWhenThatGivesBack() {
    offeredInAll = () -> 4;
    WakeSignal signal = new WakeSignal();
    Capacity.Claimer other = of("other", signal);
    assertThat(one.take(200)).isEqualTo(4);
    assertThat(other.take(200)).isZero();
    assertThat(raised(signal)).isFalse();
    // It found one job, which is with the dispatcher by now.
    offeredInAll = () -> 3;
    one.give(4);
    assertThat(raised(signal)).isTrue();
    assertThat(raised(oneSignal)).isFalse();
    assertThat(other.take(200)).isEqualTo(3);
    other.give(3);
  }

  @Test
  void aNodeThatHangsLeavesHalfOfTheSharedCapacityToOtherQueues() {
    offeredInAll = () -> 10;
    nodes = bucket -> bucket.queue().application();
    Capacity.Claimer other = of("other", new WakeSignal());
    assertThat(other.take(1)).isEqualTo(1);
    other.give(1);
    assertThat(one.take(1)).isEqualTo(1);
    one.give(1);
    assertThat(one.take(200)).isEqualTo(5);
    assertThat(two.take(200)).isZero();
    assertThat(other.take(200)).isEqualTo(5);
    other.give(5);
    one.give(5);
  }

  @Test
  void theClaimsAtOneNodeLeaveHalfToTheOtherNodes() {
    nodes = bucket -> "node-" + bucket.index() % 2;
    assertThat(two.take(1)).isEqualTo(1);
    two.give(1);
    Capacity.Claimer three = capacity.claimer(new Bucket(QUEUE, 2), new WakeSignal());
    assertThat(one.take(200)).isEqualTo(25);
    // It hangs, and another bucket is at the same node.
    assertThat(three.take(200)).isZero();
    assertThat(two.take(200)).isEqualTo(25);
    two.give(25);
    one.give(25);
    assertThat(three.take(200)).isEqualTo(25);
    three.give(25);
  }

  @Test
  void aNodeThatIsNotKnownYetOrIsGoneIsNoOther() {
    assertThat(one.take(1)).isEqualTo(1);
    one.give(1);
    nodes = bucket -> "first";
    assertThat(one.take(200)).isEqualTo(50);
    one.give(50);
    nodes = bucket -> "promoted";
    assertThat(one.take(200)).isEqualTo(50);
    one.give(50);
  }

  @Test
  void whoeverIsRefusedByTheDispatcherIsWokenWhenThatTakesMore() {
    offered = () -> 0;
    assertThat(one.take(200)).isZero();
    capacity.changed(new QueueName("shop", "sms"));
    assertThat(raised(oneSignal)).isFalse();
    capacity.changed(QUEUE);
    assertThat(raised(oneSignal)).isTrue();
    assertThat(raised(twoSignal)).isFalse();
    capacity.changed(QUEUE);
    assertThat(raised(oneSignal)).isFalse();
  }

  @Test
  void capacityThatChangesWhileTheDispatcherIsAskedIsNotMissed() {
    offered =
        () -> {
          capacity.changed(QUEUE);
          return 0;
        };
    assertThat(one.take(200)).isZero();
    assertThat(raised(oneSignal)).isTrue();
  }

  @Test
  void whatIsGivenBackWhileTheDispatcherIsAskedIsNotTakenTwice() {
    assertThat(one.take(200)).isEqualTo(50);
    AtomicInteger asked = new AtomicInteger();
    offered =
        () -> {
          if (asked.getAndIncrement() == 0) {
            // They are with the dispatcher by now, which has only 10 left.
            one.give(50);
            return 50;
          }
          return 10;
        };
    assertThat(two.take(200)).isEqualTo(10);
    two.give(10);
  }

  @Test
  void aDispatcherThatThrowsTakesNothingAndHealthShowsIt() {
    offered =
        () -> {
          throw new NoClassDefFoundError("Gone");
        };
    assertThat(one.take(200)).isZero();
    assertThat(defects.open())
        .containsEntry(
            "the dispatcher's capacity for shop/mail", "java.lang.NoClassDefFoundError: Gone");
    offered = () -> 1;
    assertThat(one.take(200)).isEqualTo(1);
    assertThat(defects.open()).isEmpty();
    one.give(1);
  }

  @Test
  void oneApplicationMayHaveHalfOfTheMemory() {
    WakeSignal signal = new WakeSignal();
    Capacity.Claimer other = of("other", signal);
    one.opened(800);
    assertThat(one.take(1)).isZero();
    assertThat(two.take(1)).isZero();
    assertThat(other.take(1)).isEqualTo(1);
    other.give(1);
    one.closed(1);
    assertThat(raised(oneSignal)).isTrue();
    assertThat(raised(twoSignal)).isTrue();
    assertThat(one.take(1)).isEqualTo(1);
    one.give(1);
    one.closed(799);
  }

  @Test
  void allTogetherMayHaveTheWholeAndAreWokenByAnyOfThem() {
    WakeSignal signal = new WakeSignal();
    Capacity.Claimer other = of("other", signal);
    Capacity.Claimer third = of("third", new WakeSignal());
    one.opened(700);
    third.opened(900);
    assertThat(other.take(1)).isZero();
    assertThat(one.take(1)).isZero();
    third.closed(1);
    assertThat(raised(signal)).isTrue();
    assertThat(raised(oneSignal)).isTrue();
    assertThat(third.take(1)).isZero();
    one.closed(700);
    third.closed(899);
  }

  @Test
  void whileTooManyEndsWaitForTheStoreNothingIsClaimedFromThatBucket() {
    one.ending(Capacity.MAX_UNWRITTEN);
    assertThat(one.take(1)).isZero();
    assertThat(two.take(1)).isEqualTo(1);
    two.give(1);
    assertThat(raised(oneSignal)).as("a sibling's give wakes it, and it is refused again").isTrue();
    assertThat(one.take(1)).isZero();
    one.written(1);
    assertThat(raised(oneSignal)).isTrue();
    one.written(1);
    assertThat(raised(oneSignal)).isFalse();
    one.written(Capacity.MAX_UNWRITTEN - 2);
  }

  @Test
  void anEndAtTheBoundOfConcurrencyMakesItLookAtOnce() {
    one.claimed(true, one.ends());
    one.ended(0);
    assertThat(oneSignal.take().head()).isEqualTo(WakePlan.NEVER);
    one.ended(1);
    assertThat(oneSignal.take().head()).isEqualTo(Long.MIN_VALUE);
    one.ended(1);
    assertThat(oneSignal.take().head()).isEqualTo(WakePlan.NEVER);
  }

  @Test
  void anEndBetweenTheClaimAndItsAnswerIsNotMissed() {
    long before = one.ends();
    one.ended(1);
    one.claimed(true, before);
    assertThat(oneSignal.take().head()).isEqualTo(Long.MIN_VALUE);
    // That look found the place taken again.
    one.claimed(true, one.ends());
    assertThat(oneSignal.take().head()).isEqualTo(WakePlan.NEVER);
  }

  @Test
  void belowTheBoundAnEndWakesNobody() {
    one.claimed(false, one.ends());
    one.ended(1);
    assertThat(oneSignal.take().head()).isEqualTo(WakePlan.NEVER);
  }
}
