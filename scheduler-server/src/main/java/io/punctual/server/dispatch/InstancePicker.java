package io.punctual.server.dispatch;

import io.punctual.server.registry.WorkerInstance;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Picks the less loaded of two random instances: nearly as even as picking the least loaded of all,
 * without the herd that runs to it (Mitzenmacher, "The power of two choices in randomized load
 * balancing", 2001).
 */
final class InstancePicker {

  private final InstanceTracker tracker;
  private final IntUnaryOperator random;

  /**
   * @param random returns a number from 0 to below its argument; called from many threads
   */
  InstancePicker(InstanceTracker tracker, IntUnaryOperator random) {
    this.tracker = tracker;
    this.random = random;
  }

  /**
   * Picks one.
   *
   * @param candidates not empty
   * @param wish which one to take if it is among them and free, and which one not to take where
   *     there is another
   */
  WorkerInstance pick(
      List<WorkerInstance> candidates, String taskType, InstanceAffinity.Wish wish) {
    if (candidates.size() == 1) {
      return candidates.get(0);
    }
    List<WorkerInstance> free =
        candidates.stream().filter(instance -> tracker.free(instance, taskType) > 0).toList();
    List<WorkerInstance> some = free.isEmpty() ? candidates : free;
    for (WorkerInstance instance : some) {
      if (instance.id().equals(wish.preferred())) {
        return instance;
      }
    }
    List<WorkerInstance> others =
        some.stream().filter(instance -> !instance.id().equals(wish.unwanted())).toList();
    List<WorkerInstance> from = others.isEmpty() ? some : others;
    if (from.size() == 1) {
      return from.get(0);
    }
    int first = random.applyAsInt(from.size());
    int second = random.applyAsInt(from.size() - 1);
    if (second >= first) {
      second++;
    }
    WorkerInstance a = from.get(first);
    WorkerInstance b = from.get(second);
    return tracker.load(a) <= tracker.load(b) ? a : b;
  }
}
