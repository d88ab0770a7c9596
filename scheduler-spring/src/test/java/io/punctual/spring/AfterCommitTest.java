package io.punctual.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.InvalidJobException;
import io.punctual.RescheduleResult;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import io.punctual.internal.AttemptToken;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.databind.json.JsonMapper;

/** With a database, and its savepoints, it is shown in plugin mode. */
class AfterCommitTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  private static final String HANDLE =
      new AttemptToken("shop", "order.close", "1", "abc", "lease").text();

  private final RecordingScheduler scheduler = new RecordingScheduler();
  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final TaskSubmitService service = service(Transactions.AFTER_COMMIT);
  private final NoResource manager = new NoResource();
  private final TransactionTemplate transaction = new TransactionTemplate(manager);

  @Test
  void whatIsAskedForTakesEffectInOrderWhenTheTransactionHasCommitted() {
    transaction.executeWithoutResult(
        status -> {
          SubmitResult first = send("a");
          assertThat(first.outcome()).isEqualTo(SubmitResult.Outcome.ON_COMMIT);
          assertThat(first.taskId()).isEqualTo("a");
          assertThat(first.dueAt()).isEqualTo(NOW);
          assertThat(
                  service.sendAll(List.of(service.job("t", "").id("b").at(Instant.EPOCH).build())))
              .allSatisfy(
                  item ->
                      assertThat(item.orThrow())
                          .isEqualTo(
                              new SubmitResult(
                                  "b", Instant.EPOCH, SubmitResult.Outcome.ON_COMMIT, 0, "")));
          assertThat(service.cancel("t", "a").outcome()).isEqualTo(CancelResult.Outcome.ON_COMMIT);
          assertThat(service.cancelByTag("order:1").onCommit()).isTrue();
          assertThat(service.reschedule("t", "b", Duration.ofHours(1)).outcome())
              .isEqualTo(RescheduleResult.Outcome.ON_COMMIT);
          assertThat(service.reschedule("t", "b", Instant.EPOCH).outcome())
              .isEqualTo(RescheduleResult.Outcome.ON_COMMIT);
          send("c");
          assertThat(service.finish(HANDLE).outcome()).isEqualTo(DeferralResult.Outcome.ON_COMMIT);
          assertThat(service.fail(HANDLE, "no", Duration.ofHours(1)).outcome())
              .isEqualTo(DeferralResult.Outcome.ON_COMMIT);
          assertThat(service.fail(HANDLE, "no").outcome())
              .isEqualTo(DeferralResult.Outcome.ON_COMMIT);
          assertThat(service.reject(HANDLE, "never").outcome())
              .isEqualTo(DeferralResult.Outcome.ON_COMMIT);
          assertThat(scheduler.calls).isEmpty();
          // Time runs while the transaction does.
          assertThat(service.extend(HANDLE, Duration.ofDays(1)).outcome())
              .isEqualTo(DeferralResult.Outcome.EXTENDED);
          assertThat(scheduler.calls).hasSize(1);
          assertThat(service.restore("t", "a").restored()).isTrue();
          assertThat(scheduler.calls).hasSize(2).contains("restore a");
          scheduler.calls.clear();
        });

    assertThat(scheduler.calls)
        .containsExactly(
            "submitAll [a, b]",
            "cancel a",
            "cancelByTag order:1",
            "reschedule b PT1H",
            "reschedule b 1970-01-01T00:00:00Z",
            "submit c",
            "finish " + HANDLE,
            "fail " + HANDLE + " no PT1H",
            "fail " + HANDLE + " no null",
            "reject " + HANDLE + " never");
  }

  @Test
  void whatIsNoHandleIsRefusedAtOnce() {
    transaction.executeWithoutResult(
        status -> {
          assertThatThrownBy(() -> service.finish("nonsense"))
              .isInstanceOf(InvalidJobException.class)
              .hasMessageContaining("TaskContext.defer");
          assertThatThrownBy(() -> service.fail(HANDLE, "no", Duration.ofDays(31)))
              .isInstanceOf(InvalidJobException.class)
              .hasMessageContaining("delay must be between");
        });
    assertThat(scheduler.calls).isEmpty();
  }

  @Test
  void theIdOfAPlannedInstantIsRefusedAtOnce() {
    DelayQueueJob job =
        DelayQueueJob.of("t").taskId("nightly@2027-01-01T00:00:00Z").delay(Duration.ZERO).build();
    transaction.executeWithoutResult(
        status -> {
          assertThatThrownBy(() -> service.send(job))
              .isInstanceOf(InvalidJobException.class)
              .hasMessageContaining("ids with @");
          assertThatThrownBy(() -> service.sendAll(List.of(job)))
              .isInstanceOf(InvalidJobException.class);
        });
    assertThat(scheduler.calls).isEmpty();
  }

  @Test
  void whatIsRolledBackIsNeverSent() {
    transaction.executeWithoutResult(
        status -> {
          send("a");
          status.setRollbackOnly();
        });
    assertThatThrownBy(
            () ->
                transaction.executeWithoutResult(
                    status -> {
                      send("b");
                      throw new IllegalStateException("rolled back");
                    }))
        .hasMessage("rolled back");

    assertThat(scheduler.calls).isEmpty();
    send("c");
    assertThat(scheduler.calls).containsExactly("submit c");
  }

  @Test
  void aTransactionOfItsOwnWithinAnotherOneGoesFirst() {
    TransactionTemplate own = new TransactionTemplate(manager);
    own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    transaction.executeWithoutResult(
        status -> {
          send("outer");
          own.executeWithoutResult(inner -> send("inner"));
          assertThat(scheduler.calls).containsExactly("submit inner");
          status.setRollbackOnly();
        });

    assertThat(scheduler.calls).containsExactly("submit inner");
  }

  @Test
  void whatListenersOfTheCommitAskForIsNotForgotten() {
    transaction.executeWithoutResult(
        status -> {
          send("a");
          TransactionSynchronizationManager.registerSynchronization(
              new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                  send("b");
                }

                @Override
                public void afterCompletion(int completed) {
                  send("c");
                }
              });
        });
    transaction.executeWithoutResult(
        status ->
            TransactionSynchronizationManager.registerSynchronization(
                new TransactionSynchronization() {
                  @Override
                  public void afterCommit() {
                    send("d");
                  }
                }));

    assertThat(scheduler.jobs).extracting(job -> job.taskId()).containsOnlyOnce("a", "b", "c", "d");
  }

  @Test
  void whatFailsBehindTheCommitIsCountedAndHoldsNothingElseUp() {
    transaction.executeWithoutResult(
        status -> {
          service.job(RecordingScheduler.REFUSED, "").id("bad").in(Duration.ZERO).send();
          send("good");
          service.cancel("t", "x");
          service.job(RecordingScheduler.REFUSED, "").id("worse").in(Duration.ZERO).send();
        });

    assertThat(scheduler.calls)
        .containsExactly("submitAll [bad, good]", "cancel x", "submit worse");
    assertThat(scheduler.jobs).extracting(job -> job.taskId()).containsExactly("good");
    assertThat(failures("send")).isEqualTo(2);
    assertThat(failures("cancel")).isZero();
  }

  @Test
  void whatMayOrMayNotHaveCommittedIsNotSentAndCounted() {
    manager.commitFails = true;
    assertThatThrownBy(() -> transaction.executeWithoutResult(status -> send("a")))
        .isInstanceOf(TransactionSystemException.class);

    assertThat(scheduler.calls).isEmpty();
    assertThat(failures("send")).isEqualTo(1);
  }

  @Test
  void inputThatIsWrongIsToldAtOnce() {
    transaction.executeWithoutResult(
        status -> {
          assertThatThrownBy(() -> service.cancel("t", "a b"))
              .isInstanceOf(InvalidJobException.class);
          assertThatThrownBy(() -> service.cancelByTag("a b"))
              .isInstanceOf(InvalidJobException.class);
          assertThatThrownBy(() -> service.reschedule("t", "a", Duration.ofSeconds(-1)))
              .isInstanceOf(InvalidJobException.class);
        });

    assertThat(scheduler.calls).isEmpty();
  }

  @Test
  void itCanBeHadAtOnce() {
    TaskSubmitService immediate = service(Transactions.IMMEDIATE);
    transaction.executeWithoutResult(
        status -> {
          assertThat(immediate.job("t", "").id("a").in(Duration.ZERO).send().outcome())
              .isEqualTo(SubmitResult.Outcome.CREATED);
          status.setRollbackOnly();
        });

    assertThat(scheduler.calls).containsExactly("submit a");
  }

  @Test
  void manyJobsOfOneTransactionShareCalls() {
    transaction.executeWithoutResult(
        status -> {
          for (int i = 0; i < 250; i++) {
            send("job" + i);
          }
        });

    assertThat(scheduler.jobs).hasSize(250);
    assertThat(scheduler.calls).hasSize(3);
  }

  private double failures(String call) {
    return metrics.get("punctual.client.commit.failures").tag("call", call).counter().count();
  }

  private SubmitResult send(String id) {
    return service.job("t", "").id(id).in(Duration.ZERO).send();
  }

  private TaskSubmitService service(Transactions transactions) {
    return new SpringTaskSubmitService(
        scheduler,
        new Payloads(JsonMapper::new),
        type -> WorkerSettings.NONE,
        transactions,
        new DirectCalls(scheduler, new MeteredCommitFailures(metrics)),
        InstantSource.fixed(NOW),
        null,
        SubmitObservations.NONE);
  }

  /** Spring's transactions without anything behind them. */
  private static final class NoResource extends AbstractPlatformTransactionManager {

    private static final long serialVersionUID = 1L;
    private int open;
    private boolean commitFails;

    @Override
    protected Object doGetTransaction() {
      return "transaction";
    }

    @Override
    protected boolean isExistingTransaction(Object transaction) {
      return open > 0;
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {
      open++;
    }

    @Override
    protected Object doSuspend(Object transaction) {
      return "suspended";
    }

    @Override
    protected void doResume(
        @org.jspecify.annotations.Nullable Object transaction, Object suspended) {}

    @Override
    protected void doCommit(DefaultTransactionStatus status) {
      if (commitFails) {
        throw new TransactionSystemException("the connection broke");
      }
    }

    @Override
    protected void doRollback(DefaultTransactionStatus status) {}

    @Override
    protected void doSetRollbackOnly(DefaultTransactionStatus status) {}

    @Override
    protected void doCleanupAfterCompletion(Object transaction) {
      open--;
    }
  }
}
