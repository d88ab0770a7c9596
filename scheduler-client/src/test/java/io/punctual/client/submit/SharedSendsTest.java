package io.punctual.client.submit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.BatchItem;
import io.punctual.DelayQueueJob;
import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
import io.punctual.PunctualException;
import io.punctual.SchedulerUnavailableException;
import io.punctual.SubmitResult;
import io.punctual.conflict.OnConflict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SharedSendsTest {

  private static final SubmitResult STORED =
      new SubmitResult("x", Instant.EPOCH, SubmitResult.Outcome.CREATED, 1, "");

  private final ExecutorService threads = Executors.newCachedThreadPool();
  // What the other side sees: requests that wait for their answer.
  private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
  private final SharedSends sends = new SharedSends(this::single, this::many);

  private record Request(List<DelayQueueJob> jobs, CompletableFuture<List<BatchItem>> answer) {

    List<String> ids() {
      return jobs.stream().map(DelayQueueJob::taskId).toList();
    }

    void store() {
      answer.complete(
          jobs.stream()
              .map(
                  job ->
                      new BatchItem(
                          job.taskId(),
                          new SubmitResult(
                              job.taskId(), Instant.EPOCH, SubmitResult.Outcome.CREATED, 1, ""),
                          null))
              .toList());
    }
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private SubmitResult single(DelayQueueJob job, long deadline) {
    BatchItem item = many(List.of(job), deadline).get(0);
    if (item.error() != null) {
      throw item.error();
    }
    return item.orThrow();
  }

  private List<BatchItem> many(List<DelayQueueJob> jobs, long deadline) {
    Request request = new Request(jobs, new CompletableFuture<>());
    requests.add(request);
    try {
      return request.answer().get();
    } catch (ExecutionException e) {
      throw (PunctualException) e.getCause();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unavailable();
    }
  }

  private static SchedulerUnavailableException unavailable() {
    return new SchedulerUnavailableException("down", Duration.ofSeconds(7), new Exception());
  }

  private Future<SubmitResult> send(String id) {
    return send(id, Duration.ofSeconds(50));
  }

  private Future<SubmitResult> send(String id, Duration patience) {
    return threads.submit(() -> sends.send(job(id), System.nanoTime() + patience.toNanos()));
  }

  private static DelayQueueJob job(String id) {
    return DelayQueueJob.of("t")
        .taskId(id)
        .params("p")
        .delay(Duration.ofSeconds(1))
        .onConflict(id.startsWith("replacing") ? OnConflict.REPLACE : OnConflict.REFUSE)
        .build();
  }

  private Request next() throws InterruptedException {
    Request request = requests.poll(30, TimeUnit.SECONDS);
    assertThat(request).isNotNull();
    return request;
  }

  /** Four requests that wait for their answers, and senders behind them in that order. */
  private List<Request> busy(List<Future<SubmitResult>> behind, String... ids) throws Exception {
    List<Request> busy = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      var unused = send("busy-" + i);
      busy.add(next());
    }
    for (String id : ids) {
      int before = sends.waiting();
      behind.add(send(id));
      while (sends.waiting() == before) {
        Thread.onSpinWait();
      }
    }
    return busy;
  }

  private void isStored(String id, Future<SubmitResult> sender) throws Exception {
    Request request = next();
    assertThat(request.ids()).containsExactly(id);
    request.store();
    assertThat(sender.get().taskId()).isEqualTo(id);
  }

  @Test
  void whoFindsFewOthersGoesOutByItself() throws Exception {
    List<Request> busy = busy(new ArrayList<>());
    assertThat(busy).allSatisfy(request -> assertThat(request.jobs()).hasSize(1));
    busy.forEach(Request::store);
  }

  @Test
  void whatWaitsGoesTogetherAndEveryoneHasItsOwnAnswer() throws Exception {
    List<Future<SubmitResult>> behind = new ArrayList<>();
    List<Request> busy = busy(behind, "a", "b", "c");
    busy.get(2).store();

    Request together = next();
    assertThat(together.ids()).containsExactly("a", "b", "c");
    together.store();
    assertThat(behind.get(0).get().taskId()).isEqualTo("a");
    assertThat(behind.get(2).get().taskId()).isEqualTo("c");
    // All four may be used again.
    busy.forEach(Request::store);
    whoFindsFewOthersGoesOutByItself();
  }

  @Test
  void jobsUnderAnotherRuleWaitForTheNextRequest() throws Exception {
    List<Future<SubmitResult>> behind = new ArrayList<>();
    List<Request> busy = busy(behind, "a", "b", "replacing-c", "replacing-d", "e");
    busy.get(0).store();

    for (List<String> ids :
        List.of(List.of("a", "b"), List.of("replacing-c", "replacing-d"), List.of("e"))) {
      Request together = next();
      assertThat(together.ids()).containsExactlyElementsOf(ids);
      together.store();
    }
    busy.forEach(Request::store);
    for (Future<SubmitResult> sender : behind) {
      assertThat(sender.get()).isNotNull();
    }
  }

  @Test
  void whatWasNotStoredWithTheOthersIsSentByItself() throws Exception {
    List<Future<SubmitResult>> behind = new ArrayList<>();
    List<Request> busy = busy(behind, "a", "b");
    busy.get(0).store();
    JobConflictException conflict = new JobConflictException("differs", List.of("params"));
    next()
        .answer()
        .complete(List.of(new BatchItem("a", STORED, null), new BatchItem("b", null, conflict)));

    assertThat(behind.get(0).get()).isSameAs(STORED);
    Request again = next();
    assertThat(again.ids()).containsExactly("b");
    again.answer().complete(List.of(new BatchItem("b", null, conflict)));
    assertThatThrownBy(() -> behind.get(1).get()).hasCause(conflict);
    busy.forEach(Request::store);
  }

  @Test
  void whenTheRequestIsRefusedAsAWholeEachGoesByItself() throws Exception {
    List<Future<SubmitResult>> behind = new ArrayList<>();
    List<Request> busy = busy(behind, "a", "b");
    busy.get(0).store();
    next().answer().completeExceptionally(new InvalidJobException("too large"));

    List<String> alone = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Request request = next();
      alone.addAll(request.ids());
      request.store();
    }
    assertThat(alone).containsExactlyInAnyOrder("a", "b");
    assertThat(behind.get(1).get().taskId()).isEqualTo("b");
    busy.forEach(Request::store);
  }

  @Test
  void whenARequestIsNotAnsweredTheOthersGoOnForAsLongAsTheyHaveTime() throws Exception {
    List<Future<SubmitResult>> behind = new ArrayList<>();
    List<Request> busy = busy(behind, "a", "b");
    busy.get(0).store();
    next().answer().completeExceptionally(unavailable());

    assertThatThrownBy(behind.get(0)::get)
        .cause()
        .isInstanceOfSatisfying(
            SchedulerUnavailableException.class, e -> assertThat(e.retryAfter()).hasSeconds(7));
    isStored("b", behind.get(1));
    busy.forEach(Request::store);
  }

  @Test
  void aSendThatWaitsForOthersEndsByItsOwnDeadline() throws Exception {
    List<Request> busy = busy(new ArrayList<>());

    Future<SubmitResult> waiting = send("a", Duration.ofMillis(50));

    assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
        .cause()
        .hasMessageStartingWith("Nothing was sent: the requests of other threads")
        .isInstanceOfSatisfying(
            SchedulerUnavailableException.class, e -> assertThat(e.mayHaveTakenEffect()).isFalse());
    assertThat(sends.waiting()).isZero();
    busy.forEach(Request::store);
    whoFindsFewOthersGoesOutByItself();
  }

  @Test
  void aSendThatOthersMakeEndsSoonAfterItsDeadlineToo() throws Exception {
    List<Future<SubmitResult>> behind = new ArrayList<>();
    List<Request> busy = busy(behind, "a");
    Future<SubmitResult> withOthers = send("b", Duration.ofSeconds(52));
    Future<SubmitResult> hasty = send("c", Duration.ofSeconds(51));
    while (sends.waiting() < 3) {
      Thread.onSpinWait();
    }
    busy.get(0).store();
    Request together = next();
    assertThat(together.ids()).containsExactly("a", "c", "b");

    together.store();
    assertThat(withOthers.get().taskId()).isEqualTo("b");
    assertThat(hasty.get().taskId()).isEqualTo("c");
    busy.forEach(Request::store);
  }

  @Test
  void whoIsInterruptedWhileItWaitsLeavesTheOthersAlone() throws Exception {
    List<Future<SubmitResult>> behind = new ArrayList<>();
    List<Request> busy = busy(behind, "a", "b");
    behind.get(0).cancel(true);
    while (sends.waiting() > 1) {
      Thread.onSpinWait();
    }
    busy.get(0).store();

    isStored("b", behind.get(1));
    busy.forEach(Request::store);
  }

  @Test
  void theOthersGoOnWhenTheOneThatSendsForThemIsInterrupted() throws Exception {
    List<Future<SubmitResult>> behind = new ArrayList<>();
    List<Request> busy = busy(behind, "a", "b");
    busy.get(0).store();
    assertThat(next().ids()).containsExactly("a", "b");
    behind.get(0).cancel(true);

    isStored("b", behind.get(1));
    busy.forEach(Request::store);
  }

  @Test
  void largeJobsTravelInSmallerGroups() throws Exception {
    List<Future<SubmitResult>> behind = new ArrayList<>();
    List<Request> busy = busy(behind, "a");
    behind.add(
        threads.submit(
            () ->
                sends.send(
                    DelayQueueJob.of("t")
                        .taskId("large")
                        .params("x".repeat(256 * 1024))
                        .delay(Duration.ofSeconds(1))
                        .build(),
                    System.nanoTime() + Duration.ofSeconds(50).toNanos())));
    while (sends.waiting() < 2) {
      Thread.onSpinWait();
    }
    busy.get(0).store();

    for (String id : List.of("a", "large")) {
      Request request = next();
      assertThat(request.ids()).containsExactly(id);
      request.store();
    }
    busy.forEach(Request::store);
  }
}
