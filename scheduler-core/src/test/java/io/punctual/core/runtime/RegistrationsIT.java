package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.Submit;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.QueueDirectory;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submitted;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Bursts of new task types. */
class RegistrationsIT extends EngineTestBase {

  private static final EngineOptions BOUNDED = options("engine").with().maxQueues(10_000).build();

  /** A directory that counts how many registrations of an application are under way. */
  private static final class Counting implements QueueDirectory {

    private final QueueDirectory real;
    private final Map<String, AtomicInteger> underWay = new ConcurrentHashMap<>();
    private final AtomicInteger most = new AtomicInteger();
    private final CountDownLatch held = new CountDownLatch(1);
    private final AtomicInteger asked = new AtomicInteger();
    private volatile String holding = "";
    private volatile boolean broken;

    Counting(QueueDirectory real) {
      this.real = real;
    }

    @Override
    public OptionalInt register(QueueName queue, int buckets, int max) {
      if (max == Integer.MAX_VALUE) {
        // Known queues are made sure of, whatever the bound is.
        return real.register(queue, buckets, max);
      }
      AtomicInteger mine =
          underWay.computeIfAbsent(queue.application(), name -> new AtomicInteger());
      most.accumulateAndGet(mine.incrementAndGet(), Math::max);
      try {
        if (queue.application().equals(holding)) {
          assertThat(held.await(20, TimeUnit.SECONDS)).isTrue();
        }
        asked.incrementAndGet();
        if (broken) {
          throw new StoreException(StoreException.Kind.UNREACHABLE, "no answer");
        }
        return real.register(queue, buckets, max);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      } finally {
        mine.decrementAndGet();
      }
    }

    @Override
    public OptionalInt buckets(QueueName queue) {
      return real.buckets(queue);
    }

    @Override
    public long count() {
      return real.count();
    }

    @Override
    public Map<QueueName, Integer> all() {
      return real.all();
    }

    @Override
    public @Nullable Pause pause(String application, Pause.@Nullable Terms terms) {
      return real.pause(application, terms);
    }

    @Override
    public Pauses pauses() {
      return real.pauses();
    }
  }

  private static Store with(Store store, QueueDirectory directory) {
    return new Store(
        store.jobs(),
        directory,
        store.wakeUps(),
        store.members(),
        store.inspector(),
        store.epoch(),
        store.calls(),
        store.schedules(),
        store.calendars());
  }

  private static CompletableFuture<Submit> submit(Engine engine, String application, String type) {
    return engine.submit(
        application, DelayQueueJob.of(type).taskId("1").delay(Duration.ofHours(1)).build(), false);
  }

  private static List<CompletableFuture<Submit>> burst(Engine engine, String prefix, int count) {
    List<CompletableFuture<Submit>> answers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      answers.add(submit(engine, APP, prefix + i));
    }
    return answers;
  }

  private static boolean isStored(CompletableFuture<Submit> answer) throws Exception {
    try {
      return answer.get(60, TimeUnit.SECONDS).kind() == Submitted.Kind.CREATED;
    } catch (ExecutionException e) {
      assertThat(e.getCause())
          .isInstanceOfSatisfying(
              StoreException.class,
              store -> assertThat(store.kind()).isEqualTo(StoreException.Kind.EXCESSIVE));
      return false;
    }
  }

  private static long queues(Store store) {
    return store.queues().all().keySet().stream()
        .filter(queue -> queue.application().equals(APP))
        .count();
  }

  @Test
  void newTypesOfOneApplicationAreRegisteredOneAfterTheOther() throws Exception {
    Store store = store();
    Counting directory = new Counting(store.queues());
    Engine engine = engine(with(store, directory), BOUNDED, TestDispatcher.done(), null);

    for (CompletableFuture<Submit> answer : burst(engine, "new-", 1_000)) {
      assertThat(isStored(answer)).isTrue();
    }

    assertThat(directory.most).hasValue(1);
    assertThat(store.queues().count()).isEqualTo(1_000);
  }

  @Test
  void anotherApplicationDoesNotWaitForThem() throws Exception {
    Store store = store();
    Counting directory = new Counting(store.queues());
    directory.holding = APP;
    Engine engine = engine(with(store, directory), BOUNDED, TestDispatcher.done(), null);
    List<CompletableFuture<Submit>> burst = burst(engine, "new-", 100);

    assertThat(isStored(submit(engine, "another", "its-own"))).isTrue();

    assertThat(burst).noneMatch(CompletableFuture::isDone);
    directory.held.countDown();
    for (CompletableFuture<Submit> answer : burst) {
      assertThat(isStored(answer)).isTrue();
    }
  }

  @Test
  void theBoundOnQueuesHoldsForTwoSchedulersThatFillItTogether() throws Exception {
    int max = 50;
    List<CompletableFuture<Submit>> answers = new ArrayList<>();
    // What a scheduler reads it keeps, and registers again: it must not read one too many.
    AtomicLong most = new AtomicLong();
    AtomicBoolean over = new AtomicBoolean();
    Store read = store();
    Thread reader =
        new Thread(
            () -> {
              while (!over.get()) {
                most.accumulateAndGet(queues(read), Math::max);
              }
            });
    reader.start();
    for (String owner : new String[] {"first", "second"}) {
      Engine engine =
          engine(
              store(), options(owner).with().maxQueues(max).build(), TestDispatcher.done(), null);
      answers.addAll(burst(engine, owner + "-", 45));
      answers.add(submit(engine, "another", owner));
    }

    int stored = 0;
    for (CompletableFuture<Submit> answer : answers) {
      stored += isStored(answer) ? 1 : 0;
    }

    over.set(true);
    reader.join();
    // The reader may not have seen the last one.
    most.accumulateAndGet(queues(read), Math::max);
    assertThat(queues(read)).isEqualTo(max);
    assertThat(most).hasValue(max);
    assertThat(stored).isEqualTo(max + 2);
  }

  @Test
  void whatWaitsBehindARegistrationWithoutAnAnswerFailsWithIt() throws Exception {
    Store store = store();
    Counting directory = new Counting(store.queues());
    directory.holding = APP;
    directory.broken = true;
    Engine engine = engine(with(store, directory), BOUNDED, TestDispatcher.done(), null);
    List<CompletableFuture<Submit>> burst = burst(engine, "new-", 100);
    directory.held.countDown();

    for (CompletableFuture<Submit> answer : burst) {
      assertThat(answer)
          .failsWithin(20, TimeUnit.SECONDS)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(StoreException.class);
    }
    assertThat(directory.asked).hasValue(1);
    directory.broken = false;
    assertThat(isStored(submit(engine, APP, "later"))).isTrue();
  }
}
