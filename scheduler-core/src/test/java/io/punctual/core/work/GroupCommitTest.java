package io.punctual.core.work;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GroupCommitTest {

  private static final long BREAK = -1;

  private final Threads threads = Threads.inBackground();
  private final BlockingQueue<List<Integer>> calls = new LinkedBlockingQueue<>();
  private final BlockingQueue<Long> answers = new SynchronousQueue<>();
  private final List<Integer> dropped = Collections.synchronizedList(new ArrayList<>());
  private final List<Throwable> why = Collections.synchronizedList(new ArrayList<>());
  private final Defects defects = new Defects();

  @AfterEach
  void close() {
    threads.close();
  }

  @Test
  void whatArrivesDuringACallGoesTogetherWithTheNext() throws Exception {
    GroupCommit<Integer> commit = commit(200, Long.MAX_VALUE);
    commit.add(1);
    assertThat(call()).containsExactly(1);
    IntStream.rangeClosed(2, 50).forEach(commit::add);
    answers.put(0L);
    assertThat(call()).hasSize(49).startsWith(2).endsWith(50);
    answers.put(0L);
    commit.add(51);
    assertThat(call()).containsExactly(51);
    answers.put(0L);
  }

  @Test
  void groupsAreBoundedByNumberAndWeight() throws Exception {
    GroupCommit<Integer> commit = commit(3, 100);
    commit.add(1);
    call();
    for (int item : new int[] {1, 1, 1, 1, 99, 101, 50, 50, 1}) {
      commit.add(item);
    }
    for (List<Integer> expected :
        List.of(List.of(1, 1, 1), List.of(1, 99), List.of(101), List.of(50, 50), List.of(1))) {
      answers.put(0L);
      assertThat(call()).isEqualTo(expected);
    }
    answers.put(0L);
  }

  @Test
  void aGroupThatFailedGoesAgainAndTakesWhatArrivedAlong() throws Exception {
    GroupCommit<Integer> commit = commit(3, Long.MAX_VALUE);
    commit.add(1);
    call();
    commit.add(2);
    answers.put(1_000_000L);
    assertThat(call()).containsExactly(1, 2);
    answers.put(0L);
  }

  @Test
  void aCloseDropsWhatWaitsAndWhatTheLastCallGivesBack() throws Exception {
    GroupCommit<Integer> commit = commit(3, Long.MAX_VALUE);
    commit.add(1);
    call();
    commit.add(2);
    commit.close();
    assertThat(dropped).containsExactly(2);
    assertThat(commit.add(3)).isFalse();
    answers.put(1L);
    Awaitility.await().untilAsserted(() -> assertThat(dropped).containsExactly(2, 1));
  }

  @Test
  void anErrorDropsItsGroupAndEndsNothing() throws Exception {
    GroupCommit<Integer> commit = commit(3, Long.MAX_VALUE);
    commit.add(1);
    call();
    commit.add(2);
    answers.put(BREAK);
    assertThat(call()).containsExactly(2);
    assertThat(dropped).containsExactly(1);
    assertThat(why).singleElement().isInstanceOf(NoClassDefFoundError.class);
    assertThat(defects.open()).containsOnlyKeys("the test");
    answers.put(0L);
    Awaitility.await().until(() -> defects.open().isEmpty());
    commit.add(3);
    assertThat(call()).containsExactly(3);
    answers.put(0L);
  }

  @Test
  void anErrorBetweenTwoCallsEndsNothing() {
    AtomicInteger errors = new AtomicInteger(1);
    List<Integer> sent = Collections.synchronizedList(new ArrayList<>());
    GroupCommit<Integer> commit =
        answered(
            item -> {
              if (errors.getAndDecrement() > 0) {
                throw new OutOfMemoryError("of the test");
              }
              return 0;
            },
            sent::addAll);

    commit.add(1);
    Awaitility.await().untilAsserted(() -> assertThat(sent).containsExactly(1));
    commit.add(2);
    Awaitility.await().untilAsserted(() -> assertThat(sent).containsExactly(1, 2));
    assertThat(dropped).isEmpty();
  }

  @Test
  void anItemThatCannotBePutBackIsDroppedAndTheOthersGoAgain() throws Exception {
    AtomicInteger errors = new AtomicInteger(1);
    AtomicInteger calls = new AtomicInteger();
    List<Integer> sent = Collections.synchronizedList(new ArrayList<>());
    // As if there were no memory for the first of three.
    List<Integer> items =
        new AbstractList<>() {
          @Override
          public Integer get(int index) {
            if (index == 0 && errors.getAndDecrement() > 0) {
              throw new OutOfMemoryError("of the test");
            }
            return index + 1;
          }

          @Override
          public int size() {
            return 3;
          }
        };
    GroupCommit<Integer> commit =
        new GroupCommit<>(
            "the test",
            threads,
            defects,
            200,
            Long.MAX_VALUE,
            item -> 1,
            group -> {
              if (calls.getAndIncrement() == 0) {
                return new GroupCommit.Again<>(items, 1);
              }
              sent.addAll(group);
              return null;
            },
            this::drop);

    commit.add(0);

    Awaitility.await().untilAsserted(() -> assertThat(sent).containsExactly(2, 3));
    assertThat(dropped).containsExactly(1);
    assertThat(why).singleElement().isInstanceOf(OutOfMemoryError.class);
  }

  @Test
  void whatIsUrgentGoesFirstAndDoesNotWaitForWhatIsSentAgainLater() throws Exception {
    GroupCommit<Integer> commit = commit(3, Long.MAX_VALUE);
    commit.add(1);
    call();
    IntStream.rangeClosed(2, 6).forEach(commit::add);
    answers.put(Duration.ofHours(1).toNanos());
    // Nothing else would make it go on within the hour.
    commit.addUrgent(100);
    assertThat(call()).containsExactly(100, 1, 2);
    answers.put(0L);
    assertThat(call()).containsExactly(3, 4, 5);
    commit.addUrgent(101);
    answers.put(0L);
    assertThat(call()).containsExactly(101, 6);
    answers.put(0L);
  }

  @Test
  void underStressEveryItemIsSentOnceAndCallsNeverOverlap() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger overlaps = new AtomicInteger();
    List<Integer> sent = Collections.synchronizedList(new ArrayList<>());
    GroupCommit<Integer> commit =
        answered(
            item -> 0,
            group -> {
              overlaps.addAndGet(inside.getAndIncrement());
              sent.addAll(group);
              inside.decrementAndGet();
            });
    CountDownLatch ready = new CountDownLatch(4);
    for (int t = 0; t < 4; t++) {
      int from = t * 10_000;
      threads.run(
          () -> {
            ready.countDown();
            IntStream.range(from, from + 10_000).forEach(commit::add);
          });
    }
    ready.await();
    Awaitility.await().until(() -> sent.size() >= 40_000);
    assertThat(sent).doesNotHaveDuplicates().hasSize(40_000);
    assertThat(overlaps).hasValue(0);
  }

  private GroupCommit<Integer> commit(int maxItems, long maxWeight) {
    return new GroupCommit<>(
        "the test", threads, defects, maxItems, maxWeight, item -> item, this::send, this::drop);
  }

  /** One whose calls succeed at once. */
  private GroupCommit<Integer> answered(
      GroupCommit.Weight<Integer> weight, Consumer<List<Integer>> call) {
    return new GroupCommit<>(
        "the test",
        threads,
        defects,
        200,
        Long.MAX_VALUE,
        weight,
        group -> {
          call.accept(group);
          return null;
        },
        this::drop);
  }

  private void drop(List<Integer> items, @Nullable Throwable cause) {
    dropped.addAll(items);
    if (cause != null) {
      why.add(cause);
    }
  }

  private GroupCommit.@Nullable Again<Integer> send(List<Integer> group) {
    calls.add(List.copyOf(group));
    try {
      long wait = answers.take();
      if (wait == BREAK) {
        throw new NoClassDefFoundError("Gone");
      }
      return wait == 0 ? null : new GroupCommit.Again<>(group, wait);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private List<Integer> call() throws InterruptedException {
    List<Integer> call = calls.poll(20, TimeUnit.SECONDS);
    if (call == null) {
      throw new AssertionError("no call came");
    }
    return call;
  }
}
