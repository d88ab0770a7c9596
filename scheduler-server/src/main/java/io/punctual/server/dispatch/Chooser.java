package io.punctual.server.dispatch;

import io.punctual.server.registry.WorkerInstance;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Picks the less loaded of two random instances: nearly as even as picking the least loaded of all,
 * without the herd that runs to it (Mitzenmacher, "The power of two choices in randomized load
 * balancing", 2001).
 */
final class Chooser {

  private final InstanceBoard board;
  private final IntUnaryOperator random;

  /**
   * @param random a number from 0 to below its argument; called from many threads
   */
  Chooser(InstanceBoard board, IntUnaryOperator random) {
    this.board = board;
    this.random = random;
  }

  /**
   * Picks one.
   *
   * @param candidates not empty
   * @param wish what to take if it is among them and free, and what not to take where another one
   *     is
   */
  WorkerInstance choose(List<WorkerInstance> candidates, LastTried.Wish wish) {
    if (candidates.size() == 1) {
      return candidates.get(0);
    }
    List<WorkerInstance> free = candidates.stream().filter(i -> board.free(i) > 0).toList();
    List<WorkerInstance> some = free.isEmpty() ? candidates : free;
    for (WorkerInstance instance : some) {
      if (instance.id().equals(wish.preferred())) {
        return instance;
      }
    }
    List<WorkerInstance> others =
        some.stream().filter(i -> !i.id().equals(wish.unwanted())).toList();
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
    return board.load(a) <= board.load(b) ? a : b;
  }
}
