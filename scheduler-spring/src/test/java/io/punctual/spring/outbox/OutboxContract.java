package io.punctual.spring.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.PunctualException;
import io.punctual.RetryPolicy;
import io.punctual.TaskSubmitService;
import io.punctual.conflict.OnConflict;
import io.punctual.internal.AttemptToken;
import io.punctual.internal.WorkerSetupException;
import io.punctual.spring.CommitFailures;
import io.punctual.spring.DeferredCall;
import io.punctual.spring.jdbc.Database;
import io.punctual.spring.jdbc.TestDatabase;
import java.lang.reflect.RecordComponent;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What the outbox promises, on each database. */
@ExtendWith(OutputCaptureExtension.class)
abstract class OutboxContract {

  private static final String HANDLE =
      new AttemptToken("shop", "order.close", "1", "abc", "lease").text();

  private static final OutboxOptions FAST =
      new OutboxOptions(Duration.ofMillis(100), Duration.ofSeconds(20), Duration.ofDays(1), null);

  private static final OutboxOptions SHORT_LEASE =
      new OutboxOptions(Duration.ofMillis(100), Duration.ofSeconds(4), Duration.ofDays(1), null);

  private final DataSource source;
  private final JdbcTemplate jdbc;
  private final DataSourceTransactionManager transactions;
  private final TransactionTemplate transaction;
  private final Outbox outbox;
  private final RememberingScheduler scheduler = new RememberingScheduler();
  private final Queue<String> failures = new ConcurrentLinkedQueue<>();
  private final List<OutboxRelay> relays = new ArrayList<>();

  OutboxContract(TestDatabase kind) {
    this.source = kind.createWithTables();
    this.jdbc = new JdbcTemplate(source);
    this.transactions = new DataSourceTransactionManager(source);
    this.transaction = new TransactionTemplate(transactions);
    this.outbox = outbox("shop");
  }

  private Outbox outbox(String application) {
    return outbox(source, application);
  }

  private Outbox outbox(DataSource data, String application) {
    return new Outbox(
        Database.of(data, "the test"),
        application,
        (call, error) -> failures.add(call + " " + (error == null ? "" : error.getMessage())));
  }

  private HikariDataSource pool(boolean autoCommit) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(source);
    config.setAutoCommit(autoCommit);
    config.setMaximumPoolSize(2);
    return new HikariDataSource(config);
  }

  private void relay(int number) {
    relay(number, FAST);
  }

  private void relay(int number, OutboxOptions options) {
    for (int i = 0; i < number; i++) {
      OutboxRelay relay = new OutboxRelay(i == 0 ? outbox : outbox("shop"), scheduler, options);
      relays.add(relay);
      relay.start();
    }
  }

  @AfterEach
  void stop() {
    relays.forEach(OutboxRelay::stop);
  }

  private static DelayQueueJob.Builder job(String id) {
    return DelayQueueJob.of("order.close").taskId(id).delay(Duration.ofMinutes(30));
  }

  private void send(String id) {
    send(outbox, id);
  }

  private static void send(Outbox to, String id) {
    assertThat(to.isInTransaction()).isTrue();
    to.add(List.of(new DeferredCall.Send(job(id).build())));
  }

  private void commit(DeferredCall... calls) {
    transaction.executeWithoutResult(status -> outbox.add(List.of(calls)));
  }

  private long rows() {
    return number("select count(*) from punctual_outbox");
  }

  private long number(String query) {
    Long number = jdbc.queryForObject(query, Long.class);
    return number == null ? -1 : number;
  }

  private void awaitEmpty() {
    Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> rows() == 0);
  }

  @Test
  void aTableThatIsNotThereIsNamedWithItsCure() {
    Database database = Database.of(source, "the test");
    assertThatThrownBy(() -> database.require("punctual_none", "task_type", "the test"))
        .isInstanceOfSatisfying(
            WorkerSetupException.class,
            failed -> {
              assertThat(failed.description()).contains("the test needs the table punctual_none");
              assertThat(failed.action()).contains("punctual.initialize-schema=always");
            });
    assertThatThrownBy(() -> database.require("punctual_outbox", "of_another_version", "the test"))
        .isInstanceOfSatisfying(
            WorkerSetupException.class,
            failed -> assertThat(failed.action()).contains("A table of an older version"));
    database.require("punctual_outbox", "task_type", "the test");
  }

  @Test
  void whatIsCommittedIsMadeInItsOrder() {
    relay(1);

    transaction.executeWithoutResult(
        status -> {
          assertThat(outbox.isInTransaction()).isTrue();
          send("1");
          outbox.add(
              List.of(
                  new DeferredCall.Reschedule("order.close", "1", null, Duration.ofHours(1)),
                  new DeferredCall.Reschedule("order.close", "1", Instant.EPOCH, null)));
          outbox.add(List.of(new DeferredCall.CancelByTag("order:1")));
          outbox.add(
              List.of(
                  new DeferredCall.Cancel(
                      "order.close", "1", TaskSubmitService.Running.INTERRUPT)));
          outbox.add(
              List.of(
                  new DeferredCall.Fail(HANDLE, "no", null),
                  new DeferredCall.Fail(HANDLE, "no", Duration.ofHours(1)),
                  new DeferredCall.Reject(HANDLE, "never"),
                  new DeferredCall.Finish(HANDLE)));
          outbox.add(List.of(new DeferredCall.Event(new DelayQueueJob.Event("order.paid", "1"))));
          assertThat(scheduler.calls()).isEmpty();
        });

    awaitEmpty();
    assertThat(scheduler.calls())
        .containsExactly(
            "send order.close/1",
            "reschedule order.close/1 PT1H",
            "reschedule order.close/1 1970-01-01T00:00:00Z",
            "cancelByTag order:1",
            "cancel order.close/1 interrupt",
            // Behind the cancel by tag alone: an event has another lane.
            "event order.paid 1",
            "fail " + HANDLE + " no null",
            "fail " + HANDLE + " no PT1H",
            "reject " + HANDLE + " never",
            "finish " + HANDLE);
    assertThat(failures).isEmpty();
  }

  @Test
  void whatIsRolledBackIsNeverMade() {
    TransactionTemplate nested = new TransactionTemplate(transactions);
    nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
    relay(1);

    transaction.executeWithoutResult(
        status -> {
          send("gone");
          status.setRollbackOnly();
        });
    transaction.executeWithoutResult(
        status -> {
          send("kept");
          nested.executeWithoutResult(
              inner -> {
                send("gone.in.nested");
                inner.setRollbackOnly();
              });
        });

    awaitEmpty();
    assertThat(scheduler.calls()).containsExactly("send order.close/kept");
  }

  @Test
  void outsideOfATransactionOfThisDatabaseItTakesNothing() {
    assertThat(outbox.isInTransaction()).isFalse();
    new TransactionTemplate(new DataSourceTransactionManager(TestDatabase.H2.create()))
        .executeWithoutResult(
            status -> {
              assertThat(outbox.isInTransaction()).isFalse();
              // A connection of this database that commits each statement changes nothing.
              assertThat(rows()).isZero();
              assertThat(outbox.isInTransaction()).isFalse();
            });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatListenersOfTheCommitAskForIsNotForgotten(boolean autoCommit) {
    try (HikariDataSource pool = pool(autoCommit)) {
      Outbox pooled = outbox(pool, "shop");
      TransactionTemplate outer = new TransactionTemplate(new DataSourceTransactionManager(pool));
      for (String id : List.of("alone", "behind")) {
        outer.executeWithoutResult(
            status -> {
              if (id.equals("behind")) {
                send(pooled, "within");
              }
              listen(() -> send(pooled, id), () -> {});
            });
      }
      // A service of its own, called by a listener: it takes part in what is over already.
      outer.executeWithoutResult(
          status ->
              listen(
                  () -> {},
                  () -> outer.executeWithoutResult(inner -> send(pooled, "participating"))));
      outer.executeWithoutResult(
          status -> {
            status.setRollbackOnly();
            send(pooled, "rolled.back");
            listen(() -> send(pooled, "never"), () -> {});
          });
    }
    relay(1);

    awaitEmpty();
    assertThat(scheduler.calls())
        .containsExactlyInAnyOrder(
            "send order.close/alone",
            "send order.close/within",
            "send order.close/behind",
            "send order.close/participating");
    assertThat(failures).isEmpty();
  }

  private static void listen(Runnable afterCommit, Runnable afterCompletion) {
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public void afterCommit() {
            afterCommit.run();
          }

          @Override
          public void afterCompletion(int status) {
            afterCompletion.run();
          }
        });
  }

  @Test
  void whatTheEndOfATransactionAsksForIsNotWaitedFor() {
    List<Boolean> waits = new ArrayList<>();
    transaction.executeWithoutResult(
        status -> listen(() -> {}, () -> waits.add(outbox.isInTransaction())));
    assertThat(waits).containsExactly(false);
  }

  @Test
  void aConnectionThatNobodyCommitsIsToldOf() {
    try (HikariDataSource pool = pool(false)) {
      Outbox pooled = outbox(pool, "shop");
      new TransactionTemplate(new DataSourceTransactionManager(TestDatabase.H2.create()))
          .executeWithoutResult(
              status -> {
                assertThat(new JdbcTemplate(pool).queryForList("select 1")).hasSize(1);
                send(pooled, "1");
              });
    }
    assertThat(rows()).isZero();
    assertThat(failures)
        .containsExactly(
            "send the transaction was not one of the outbox's DataSource, whose connection was"
                + " given back without a commit");
  }

  @Test
  void severalRelaysKeepTheOrderOfEachJobAndLoseNothing() {
    scheduler.failSometimes();
    relay(4);

    IntStream.range(0, 60)
        .parallel()
        .forEach(
            i ->
                commit(
                    new DeferredCall.Send(job("j" + i).build()),
                    new DeferredCall.Reschedule("order.close", "j" + i, null, Duration.ZERO)));
    IntStream.range(0, 60)
        .parallel()
        .forEach(i -> commit(new DeferredCall.Cancel("order.close", "j" + i)));

    awaitEmpty();
    for (int i = 0; i < 60; i++) {
      assertThat(scheduler.madeOf("order.close/j" + i))
          .containsExactly("send", "reschedule", "cancel");
    }
  }

  @Test
  void whileNobodyAnswersAllOfItWaits() {
    scheduler.unavailable(true);
    relay(2);
    commit(new DeferredCall.Send(job("1").build()));
    commit(new DeferredCall.Send(job("2").build()));

    Awaitility.await()
        .until(
            () ->
                jdbc.queryForList("select error from punctual_outbox", String.class).stream()
                    .anyMatch("nobody answers, as asked"::equals));
    OutboxStatus status = outbox.status();
    assertThat(status.waiting()).isEqualTo(2);
    assertThat(status.age()).isPositive();
    assertThat(status.refused()).isZero();

    scheduler.unavailable(false);
    awaitEmpty();
    assertThat(scheduler.calls()).contains("send order.close/1", "send order.close/2");
    assertThat(failures).isEmpty();
    assertThat(outbox.status()).isEqualTo(new OutboxStatus(0, Duration.ZERO, 0));
  }

  @Test
  void whatIsRefusedIsKeptAndStandsInNobodysWay() {
    scheduler.refuse("order.close/bad", ErrorCode.CONFLICT);
    relay(1);
    commit(new DeferredCall.Send(job("bad").build()), new DeferredCall.Send(job("good").build()));
    commit(new DeferredCall.Cancel("order.close", "bad"));

    Awaitility.await().until(() -> rows() == 1 && !failures.isEmpty());
    assertThat(outbox.status().refused()).isEqualTo(1);
    assertThat(scheduler.calls()).contains("send order.close/good", "cancel order.close/bad");
    assertThat(failures).containsExactly("send refused, as asked");
    assertThat(jdbc.queryForObject("select error from punctual_outbox", String.class))
        .isEqualTo("refused, as asked");

    // As the log says: corrected, and given another chance.
    scheduler.refuse("", ErrorCode.CONFLICT);
    jdbc.update("update punctual_outbox set refused = 0");
    awaitEmpty();
    assertThat(scheduler.calls()).contains("send order.close/bad");
  }

  @Test
  void whatMayBeCuredByAPersonIsTriedAgain() {
    scheduler.refuse("order.close/1", ErrorCode.UNAUTHENTICATED);
    relay(1);
    commit(new DeferredCall.Send(job("1").build()));
    Awaitility.await()
        .until(
            () ->
                jdbc.queryForList("select error from punctual_outbox", String.class)
                    .contains("refused, as asked"));
    assertThat(outbox.status().waiting()).isEqualTo(1);

    scheduler.refuse("", ErrorCode.UNAUTHENTICATED);
    awaitEmpty();
    assertThat(scheduler.calls()).containsExactly("send order.close/1");
    assertThat(failures).isEmpty();
  }

  @Test
  void aTaskTypeThatIsNotAnsweredHoldsNoOtherOneUp() {
    scheduler.breakDown("damaged/");
    for (int i = 0; i < 150; i++) {
      commit(new DeferredCall.Cancel("damaged", "d" + i));
    }
    commit(new DeferredCall.Cancel("order.close", "1"));
    commit(new DeferredCall.Reschedule("order.remind", "2", null, Duration.ZERO));
    commit(new DeferredCall.Send(job("3").build()));
    relay(1);

    Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> rows() == 150);
    assertThat(scheduler.calls())
        .containsExactlyInAnyOrder(
            "cancel order.close/1", "reschedule order.remind/2 PT0S", "send order.close/3");
    // Nor those that come later, again and again.
    for (int i = 0; i < 5; i++) {
      commit(new DeferredCall.Cancel("order.close", "later" + i));
      Awaitility.await().until(() -> rows() == 150);
    }

    scheduler.breakDown("nothing");
    awaitEmpty();
    assertThat(failures).isEmpty();
  }

  /** A look must not cost what waits: schedulers may be away for hours. */
  @Test
  @Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aLargeBacklogOfATypeThatIsNotAnsweredIsNotReadAgainAndAgain() {
    backlog("damaged", 100_000);
    commit(new DeferredCall.Cancel("order.close", "1"), new DeferredCall.Cancel("mail", "1"));
    AtomicInteger statements = new AtomicInteger();
    OutboxTable table =
        outbox(new Statements(source, sql -> statements.incrementAndGet()), "shop").table();
    long begin = System.nanoTime();

    for (int i = 0; i < 20; i++) {
      assertThat(table.ready(100, Set.of("damaged")).ids()).hasSize(2);
    }

    assertThat(statements.get()).isLessThan(20 * 10);
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(20));
    // What concerns all types waits for those that are left out.
    commit(new DeferredCall.CancelByTag("t"));
    commit(new DeferredCall.Cancel("mail", "2"));
    OutboxTable.Ready behind = table.ready(100, Set.of("damaged"));
    assertThat(behind.ids()).hasSize(2);
    assertThat(behind.blocked()).isNotNull();
    assertThat(table.ready(100, Set.of("damaged", "order.close", "mail")).ids()).isEmpty();
    assertThat(table.ready(100, Set.of()).ids()).hasSize(100);
  }

  @Test
  void everyTypeHasItsTurnWhereOneOfThemHasMuchToDo() {
    backlog("busy", 2_000);
    commit(new DeferredCall.Cancel("mail", "1"));
    OutboxTable table = outbox.table();
    long mail = number("select max(id) from punctual_outbox");

    List<Long> found = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      found.addAll(table.ready(100, Set.of("another")).ids());
    }

    assertThat(found).contains(mail).hasSizeGreaterThan(100);
  }

  /** Rows of one type, at least half of them of different jobs, all of which may go. */
  private void backlog(String type, int number) {
    commit(new DeferredCall.Cancel(type, "first"));
    long have = 1;
    while (have < number) {
      have +=
          jdbc.update(
              "insert into punctual_outbox (application, task_type, lane, kind, content, created_at,"
                  + " available_at, attempts, refused) select application, task_type,"
                  + " concat(task_type, '/', id), kind, content, created_at, available_at, attempts,"
                  + " refused from punctual_outbox order by id limit "
                  + Math.min(have, number - have));
    }
  }

  @Test
  void aJobThatBreaksItsRequestTakesNoOtherWithIt() {
    scheduler.breakDown("order.close/poison");
    commit(
        IntStream.range(0, 20)
            .mapToObj(i -> new DeferredCall.Send(job(i == 7 ? "poison" : "j" + i).build()))
            .toArray(DeferredCall[]::new));
    relay(1);

    Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> rows() == 1);
    assertThat(jdbc.queryForObject("select lane from punctual_outbox", String.class))
        .isEqualTo("order.close/poison");
    scheduler.breakDown("nothing");
    awaitEmpty();
    assertThat(failures).isEmpty();
  }

  @Test
  void aRequestThatIsRefusedAsAWholeIsNoRefusalOfItsJobs() {
    scheduler.refuseBatches();
    relay(1);
    commit(
        new DeferredCall.Send(job("1").build()),
        new DeferredCall.Send(job("2").build()),
        new DeferredCall.Send(job("3").build()));
    awaitEmpty();
    assertThat(scheduler.calls())
        .containsExactlyInAnyOrder(
            "send order.close/1", "send order.close/2", "send order.close/3");
    assertThat(failures).isEmpty();
  }

  @Test
  void whatADeadRelayHadTakenGoesOnWhenItsLeaseIsOver() {
    commit(new DeferredCall.Send(job("1").build()));
    commit(new DeferredCall.Cancel("order.close", "1"));
    OutboxTable table = outbox.table();
    List<Long> ready = table.ready(10, Set.of()).ids();
    assertThat(ready).hasSize(1);
    assertThat(table.claim(ready, "the dead one", Duration.ofSeconds(5))).hasSize(1);

    assertThat(table.ready(10, Set.of()).ids()).isEmpty();
    assertThat(table.claim(ready, "another one", Duration.ofSeconds(5))).isEmpty();
    relay(2);
    awaitEmpty();

    assertThat(scheduler.calls()).containsExactly("send order.close/1", "cancel order.close/1");
    // Should it live after all: it has nothing to say any more.
    table.failed(ready.get(0), "the dead one", "late", Duration.ZERO);
    table.delete(ready, "the dead one");
    assertThat(rows()).isZero();
  }

  @Test
  void aCallThatTakesLongerThanItsLeaseIsMadeByNobodyElse() {
    scheduler.leaveUnanswered("cancel order.close/1");
    relay(2, SHORT_LEASE);
    commit(new DeferredCall.Cancel("order.close", "1"));
    commit(new DeferredCall.Send(job("1").build()));
    Awaitility.await().until(() -> scheduler.slowCalls() == 1);
    long first = number("select min(created_at) from punctual_outbox");

    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> number("select " + Database.of(source, "the test").now()) > first + 6_000);
    assertThat(scheduler.slowCalls()).isEqualTo(1);
    assertThat(scheduler.calls()).isEmpty();

    scheduler.answer();
    awaitEmpty();
    assertThat(scheduler.calls()).containsExactly("cancel order.close/1", "send order.close/1");
  }

  @Test
  void aCallIsBrokenOffWhereItsRowsAreSomebodyElses() {
    scheduler.leaveUnanswered("cancel order.close/1");
    relay(1, SHORT_LEASE);
    commit(new DeferredCall.Cancel("order.close", "1"));
    Awaitility.await().until(() -> scheduler.slowCalls() == 1);

    jdbc.update("update punctual_outbox set claim = 'somebody else'");
    Awaitility.await().until(() -> scheduler.brokenOff() == 1);
    assertThat(jdbc.queryForList("select claim from punctual_outbox", String.class))
        .containsExactly("somebody else");

    // And it goes on with what it gets then.
    scheduler.answer();
    jdbc.update("update punctual_outbox set claim = null, available_at = 0");
    awaitEmpty();
    assertThat(scheduler.calls()).containsExactly("cancel order.close/1");
  }

  @Test
  void aJobArrivesAsItWasSent() throws Exception {
    DelayQueueJob full =
        DelayQueueJob.of("mail.send")
            .taskId("Job.A:1")
            .dueAt(Instant.ofEpochMilli(2_000_000_000_123L))
            .params("{\"to\":\"Zoë 😀\",\"zero\":\"\u0000\"}" + "x".repeat(200_000))
            .timeToRun(Duration.ofMillis(1500))
            .retry(RetryPolicy.parse("0s,2m;attempts=5"))
            .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
            .header("source", "web")
            .tag("order:1")
            .tag("cafe")
            .expiresIn(Duration.ofDays(1))
            .cancelOn("order.paid", "4711")
            .runOn("order.shipped", "a=b")
            .onConflict(OnConflict.REPLACE)
            .build();
    DelayQueueJob bare = DelayQueueJob.of("other").delay(Duration.ZERO).build();
    for (RecordComponent part : DelayQueueJob.class.getRecordComponents()) {
      assertThat(part.getAccessor().invoke(full))
          .as("set %s in the job above, so that the outbox is seen to keep it", part.getName())
          .isNotEqualTo(part.getAccessor().invoke(bare));
    }
    DelayQueueJob debounced =
        DelayQueueJob.of("mail.send")
            .taskId("key")
            .delay(Duration.ofMillis(1500))
            .onConflict(OnConflict.debounce(Duration.ofMinutes(2), OnConflict.Keep.FIRST))
            .build();
    DelayQueueJob plain = DelayQueueJob.of("mail.send").delay(Duration.ofSeconds(90)).build();
    relay(1);

    commit(
        new DeferredCall.Send(full),
        new DeferredCall.Send(debounced),
        new DeferredCall.Send(plain));

    awaitEmpty();
    assertThat(scheduler.jobs()).containsExactlyInAnyOrder(full, debounced, plain);
  }

  @Test
  void namesThatDifferInCaseAreTwoJobs() {
    commit(new DeferredCall.Send(job("a").build()), new DeferredCall.Send(job("A").build()));
    assertThat(outbox.table().ready(10, Set.of()).ids()).hasSize(2);
  }

  @Test
  void nothingGoesBesideACancelByTag() {
    commit(new DeferredCall.Send(job("1").build()), new DeferredCall.Send(job("2").build()));
    commit(new DeferredCall.CancelByTag("t"));
    commit(new DeferredCall.Send(job("3").build()));
    OutboxTable table = outbox.table();

    List<Long> before = table.ready(10, Set.of()).ids();
    assertThat(before).hasSize(2);
    assertThat(table.claim(before, "c1", Duration.ofMinutes(1))).hasSize(2);
    assertThat(table.ready(10, Set.of()).ids()).isEmpty();
    table.delete(before, "c1");
    List<Long> tag = table.ready(10, Set.of()).ids();
    assertThat(table.claim(tag, "c2", Duration.ofMinutes(1)))
        .extracting(OutboxTable.Row::kind)
        .containsExactly(CommitFailures.Call.CANCEL_BY_TAG.toString());
    assertThat(table.ready(10, Set.of()).ids()).isEmpty();
    table.delete(tag, "c2");
    assertThat(table.ready(10, Set.of()).ids()).hasSize(1);
  }

  @Test
  void aCancelByTagThatCannotGoIsToldOf(CapturedOutput log) {
    scheduler.breakDown("order.close/stuck");
    relay(1);
    commit(new DeferredCall.Cancel("order.close", "stuck"));
    long stuck = number("select max(id) from punctual_outbox");
    commit(new DeferredCall.Cancel("order.close", "beside"));
    commit(new DeferredCall.CancelByTag("t"));
    long blocked = number("select max(id) from punctual_outbox");
    commit(new DeferredCall.Send(job("behind").build()));
    Awaitility.await().until(() -> rows() == 3);
    assertThat(log.getAll()).doesNotContain("all later calls wait behind it");

    jdbc.update("update punctual_outbox set created_at = created_at - 61000");
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(log.getAll())
                    .contains(
                        "the cancel-by-tag, row "
                            + blocked
                            + " of punctual_outbox, has waited for PT1M",
                        "the first of which is " + stuck + ", of order.close/stuck"));
    assertThat(scheduler.calls()).containsExactly("cancel order.close/beside");

    scheduler.breakDown("nothing");
    awaitEmpty();
    assertThat(scheduler.calls())
        .endsWith("cancel order.close/stuck", "cancelByTag t", "send order.close/behind");
  }

  @Test
  void whatStandsBehindManyOthersIsFound() {
    transaction.executeWithoutResult(
        status -> {
          for (int i = 0; i < 1200; i++) {
            send("stuck" + i % 700);
          }
          send("free");
        });
    jdbc.update(
        "update punctual_outbox set available_at = available_at + 3600000 where lane like '%stuck%'");

    List<Long> ready = outbox.table().ready(10, Set.of()).ids();
    assertThat(outbox.table().claim(ready, "c", Duration.ofMinutes(1)))
        .extracting(OutboxTable.Row::lane)
        .containsExactly("order.close/free");
  }

  /** The transaction commits before the second page is read, or before the third. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void whatCommitsWhilePagesAreReadKeepsItsOrder(int before) throws SQLException {
    try (Connection connection = source.getConnection()) {
      connection.setAutoCommit(false);
      OutboxTable late = outbox(new SingleConnectionDataSource(connection, true), "shop").table();
      fill(300);
      late.insert(List.of(new DeferredCall.Send(job("x").build())));
      fill(300);
      late.insert(List.of(new DeferredCall.Cancel("order.close", "x")));
      AtomicInteger pages = new AtomicInteger();
      OutboxTable watched =
          outbox(
                  new Statements(
                      source,
                      sql -> {
                        if (sql.contains("limit") && pages.incrementAndGet() == before) {
                          connection.commit();
                        }
                      }),
                  "shop")
              .table();

      List<Long> ready = watched.ready(10, Set.of()).ids();

      assertThat(pages.get()).isGreaterThanOrEqualTo(2);
      connection.commit();
      assertThat(ready)
          .doesNotContain(number("select id from punctual_outbox where kind = 'cancel'"));
    }
  }

  /** Rows that may not go yet. */
  private void fill(int number) {
    transaction.executeWithoutResult(
        status -> {
          for (int i = 0; i < number; i++) {
            send("stuck" + i);
          }
        });
    // One by one: a scan would wait for rows that are not committed.
    List<Object[]> ids =
        jdbc.query(
            "select id from punctual_outbox where attempts = 0",
            (results, row) -> new Object[] {results.getLong(1)});
    transaction.executeWithoutResult(
        status ->
            jdbc.batchUpdate(
                "update punctual_outbox set attempts = 1, available_at = available_at + 3600000"
                    + " where id = ?",
                ids));
  }

  @Test
  void applicationsInOneDatabaseLeaveEachOtherAlone() {
    Outbox other = outbox("other");
    transaction.executeWithoutResult(
        status -> other.add(List.of(new DeferredCall.Send(job("theirs").build()))));
    relay(1);
    commit(new DeferredCall.Send(job("ours").build()));

    Awaitility.await().until(() -> rows() == 1);
    assertThat(scheduler.calls()).containsExactly("send order.close/ours");
    assertThat(other.status().waiting()).isEqualTo(1);
    assertThat(outbox.status().waiting()).isZero();
  }

  @Test
  void whatIsNotTriedKeepsItsTurn() {
    commit(new DeferredCall.Send(job("1").build()));
    OutboxTable table = outbox.table();
    List<Long> ready = table.ready(1, Set.of()).ids();
    assertThat(table.claim(ready, "c", Duration.ofMinutes(1)).get(0).attempts()).isEqualTo(1);
    table.release(ready, "c");
    assertThat(table.ready(1, Set.of()).ids()).isEqualTo(ready);
    assertThat(table.claim(ready, "d", Duration.ofMinutes(1)).get(0).attempts()).isEqualTo(1);
  }

  @Test
  void whatWasRefusedLongAgoIsRemoved() {
    commit(new DeferredCall.Send(job("1").build()));
    OutboxTable table = outbox.table();
    List<Long> ready = table.ready(1, Set.of()).ids();
    var unused = table.claim(ready, "c", Duration.ofMinutes(1));
    table.refused(ready.get(0), "c", "x".repeat(2000));

    assertThat(table.deleteRefused(Duration.ofHours(1))).isZero();
    jdbc.update("update punctual_outbox set available_at = available_at - 3600001");
    assertThat(table.deleteRefused(Duration.ofHours(1))).isEqualTo(1);
  }

  @Test
  void withoutItsTableASendFailsAndSaysSo() {
    jdbc.execute("drop table punctual_outbox");
    assertThatThrownBy(() -> commit(new DeferredCall.Send(job("1").build())))
        .isInstanceOfSatisfying(PunctualException.class, e -> assertThat(e.isTransient()).isTrue())
        .hasMessageContaining("the send of order.close/1 was not written")
        .hasMessageContaining("punctual_outbox");
  }

  @Test
  void onAConnectionThatBrokeACallFailsAndSaysSo() throws SQLException {
    TransactionStatus status = transactions.getTransaction(null);
    try {
      DataSourceUtils.getConnection(source).close();
      // Some drivers tell of it at the first question, others when something is written.
      assertThatThrownBy(() -> send("1"))
          .isInstanceOfSatisfying(
              PunctualException.class, e -> assertThat(e.isTransient()).isTrue())
          .hasMessageContaining("Roll the transaction back");
    } finally {
      var unused = catchThrowable(() -> transactions.rollback(status));
    }
  }

  @Test
  void aLargeBacklogIsWorkedOff() {
    relay(2);
    int number = 1500;
    transaction.executeWithoutResult(
        status ->
            outbox.add(
                IntStream.range(0, number)
                    .mapToObj(i -> new DeferredCall.Send(job("b" + i).build()))
                    .toList()));
    awaitEmpty();
    assertThat(scheduler.jobs()).hasSizeGreaterThanOrEqualTo(number);
    assertThat(scheduler.jobs().stream().map(DelayQueueJob::taskId).distinct()).hasSize(number);
    assertThat(scheduler.requests()).isLessThan(number / 10);
  }
}
