package io.punctual.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GroupCommitTest {

  private final Threads threads = Threads.inBackground();
  private final BlockingQueue<List<Integer>> calls = new LinkedBlockingQueue<>();
  private final BlockingQueue<Long> answers = new SynchronousQueue<>();
  private final List<Integer> dropped = Collections.synchronizedList(new ArrayList<>());

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
  void underStressEveryItemIsSentOnceAndCallsNeverOverlap() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger overlaps = new AtomicInteger();
    List<Integer> sent = Collections.synchronizedList(new ArrayList<>());
    GroupCommit<Integer> commit =
        new GroupCommit<>(
            threads,
            200,
            Long.MAX_VALUE,
            item -> 0,
            group -> {
              overlaps.addAndGet(inside.getAndIncrement());
              sent.addAll(group);
              inside.decrementAndGet();
              return 0;
            },
            dropped::addAll);
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
        threads, maxItems, maxWeight, item -> item, this::send, dropped::addAll);
  }

  private long send(List<Integer> group) {
    calls.add(List.copyOf(group));
    try {
      return answers.take();
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
