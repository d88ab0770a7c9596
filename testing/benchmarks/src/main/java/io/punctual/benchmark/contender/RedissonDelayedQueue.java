package io.punctual.benchmark.contender;

import io.punctual.benchmark.contest.Contender;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RFuture;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * RDelayedQueue in front of an RBlockingQueue. What is taken is gone: there is no acknowledging.
 */
@SuppressWarnings("deprecation") // Its successor's implementation is not in the open-source jar.
final class RedissonDelayedQueue implements Contender {

  private static final int TAKERS = 16;

  private final Surroundings surroundings;
  private final List<Thread> takers = new ArrayList<>();
  private final RedissonClient redisson;
  private final RBlockingQueue<String> ready;
  private final RDelayedQueue<String> delayed;
  private volatile boolean closed;

  RedissonDelayedQueue(Surroundings surroundings) {
    this.surroundings = surroundings;
    Config config = new Config();
    config.setCodec(StringCodec.INSTANCE);
    config
        .useSingleServer()
        .setAddress("redis://127.0.0.1:" + surroundings.redisPort())
        .setConnectionPoolSize(128);
    this.redisson = Redisson.create(config);
    this.ready = redisson.getBlockingQueue("jobs");
    this.delayed = redisson.getDelayedQueue(ready);
  }

  @Override
  public String description() {
    return "Redisson "
        + Redisson.class.getPackage().getImplementationVersion()
        + ": RDelayedQueue, "
        + TAKERS
        + " threads in take(), StringCodec, pool of 128; no acknowledgement";
  }

  @Override
  public void open(Consumer<String> handler) {
    for (int i = 0; i < TAKERS; i++) {
      takers.add(Thread.ofPlatform().daemon().start(() -> take(handler)));
    }
  }

  private void take(Consumer<String> handler) {
    while (!closed) {
      try {
        handler.accept(ready.take());
      } catch (InterruptedException e) {
        return;
      } catch (RedisException e) {
        if (!closed) {
          throw new IllegalStateException(e);
        }
      }
    }
  }

  @Override
  public void submit(Job job) {
    delayed.offer(job.payload(), job.due() - System.currentTimeMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public @Nullable String bulkCall() {
    return "none; offerAsync, 500 at once";
  }

  @Override
  public void bulk(List<Job> jobs) throws Exception {
    List<RFuture<Void>> offers = new ArrayList<>(jobs.size());
    for (Job job : jobs) {
      offers.add(
          delayed.offerAsync(
              job.payload(), job.due() - System.currentTimeMillis(), TimeUnit.MILLISECONDS));
    }
    for (RFuture<Void> offer : offers) {
      Void unused = offer.get(60, TimeUnit.SECONDS);
    }
  }

  @Override
  public long pending() {
    return delayed.size();
  }

  @Override
  public void clear() {
    surroundings.flushRedis();
  }

  @Override
  public int mostDrained() {
    return 20_000;
  }

  @Override
  public long storeBytes() {
    return surroundings.redisMemory();
  }

  @Override
  public void close() {
    closed = true;
    takers.forEach(Thread::interrupt);
    redisson.shutdown(0, 2, TimeUnit.SECONDS);
  }
}
