package io.punctual.benchmark.contender;

import io.punctual.benchmark.Figure;
import io.punctual.benchmark.Figures;
import io.punctual.benchmark.contest.Contender;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** The limit of HTTP: a server that answers at once. */
final class EmptyPosts implements Contender {

  private static final int AT_ONCE = 100;

  private final SinglePosts posts;
  private final AtomicLong taken = new AtomicLong();

  EmptyPosts(Surroundings surroundings) {
    this.posts =
        new SinglePosts(
            surroundings.schedulers(), "/empty", "bench", List.of(SpringContender.TYPE), 204);
  }

  @Override
  public String description() {
    return "POSTs that a controller of the same stack answers at once";
  }

  @Override
  public void open(Consumer<String> handler) {}

  @Override
  public void submit(Job job) throws Exception {
    posts.submit(job);
    taken.incrementAndGet();
  }

  /** What C1 is measured against: as many POSTs at once as a worker takes jobs. */
  void flood(int repetitions, int count, Figures figures) throws InterruptedException {
    double[] rates = new double[repetitions];
    double unused = flood(3 * count);
    for (int i = 0; i < repetitions; i++) {
      rates[i] = flood(count);
    }
    figures.add(new Figure("C1", "http", "POSTs/s", rates, ""));
  }

  private double flood(int count) throws InterruptedException {
    Semaphore room = new Semaphore(AT_ONCE);
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) {
      room.acquire();
      var unused = posts.send("x".repeat(100)).whenComplete((answer, error) -> room.release());
    }
    room.acquire(AT_ONCE);
    return count / ((System.nanoTime() - start) / 1e9);
  }

  @Override
  public long pending() {
    return taken.get();
  }

  @Override
  public void close() {}
}
