package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.registry.WorkerInstance;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class InstancePickerTest {

  private static final InstanceAffinity.Wish NONE = InstanceAffinity.Wish.NONE;

  private final DispatchFixture fixture = new DispatchFixture(3);
  private final InstancePicker picker = new InstancePicker(fixture.tracker, bound -> 0);

  private String pick(InstanceAffinity.Wish wish) {
    return picker.pick(fixture.instances, "job", wish).id();
  }

  private List<InstanceTracker.Slot> fill(int instance, int jobs) {
    WorkerInstance worker = fixture.instances.get(instance);
    return IntStream.range(0, jobs).mapToObj(i -> fixture.tracker.open(worker, false)).toList();
  }

  @Test
  void theLessLoadedOfTwoIsTaken() {
    List<InstanceTracker.Slot> slots = fill(0, 2);
    assertThat(pick(NONE)).isEqualTo("worker-1");
    List<InstanceTracker.Slot> more = fill(1, 3);
    assertThat(pick(NONE)).isEqualTo("worker-0");
    slots.forEach(InstanceTracker.Slot::close);
    more.forEach(InstanceTracker.Slot::close);
    fixture.assertEmpty();
  }

  @Test
  void theOneThatMayKnowTheJobIsTakenWhileItHasRoom() {
    assertThat(pick(new InstanceAffinity.Wish("worker-2", null))).isEqualTo("worker-2");
    List<InstanceTracker.Slot> slots = fill(2, 10);
    assertThat(pick(new InstanceAffinity.Wish("worker-2", null))).isNotEqualTo("worker-2");
    slots.forEach(InstanceTracker.Slot::close);
    fixture.assertEmpty();
  }

  @Test
  void theUnwantedOneIsTakenOnlyWhereThereIsNoOther() {
    assertThat(pick(new InstanceAffinity.Wish(null, "worker-0"))).isNotEqualTo("worker-0");
    assertThat(
            picker
                .pick(
                    fixture.instances.subList(0, 1),
                    "job",
                    new InstanceAffinity.Wish(null, "worker-0"))
                .id())
        .isEqualTo("worker-0");
  }

  @Test
  void oneThatIsFullIsTakenOnlyWhereAllAre() {
    List<InstanceTracker.Slot> slots = fill(0, 10);
    List<InstanceTracker.Slot> more = fill(1, 10);
    assertThat(pick(NONE)).isEqualTo("worker-2");
    List<InstanceTracker.Slot> most = fill(2, 10);
    assertThat(pick(NONE)).isNotNull();
    slots.forEach(InstanceTracker.Slot::close);
    more.forEach(InstanceTracker.Slot::close);
    most.forEach(InstanceTracker.Slot::close);
    fixture.assertEmpty();
  }
}
