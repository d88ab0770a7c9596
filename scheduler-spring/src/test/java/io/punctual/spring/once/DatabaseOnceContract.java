package io.punctual.spring.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.RejectTaskException;
import io.punctual.TaskContext;
import io.punctual.internal.RunningAttempt;
import io.punctual.internal.TimeLimit;
import io.punctual.spring.jdbc.Database;
import io.punctual.spring.jdbc.HeldLease;
import io.punctual.spring.jdbc.TestDatabase;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

/** What the filter in the database promises, on each database. */
abstract class DatabaseOnceContract {

  private final TestDatabase kind;
  private final JdbcTemplate jdbc;
  private final DataSource source;
  private final DatabaseOnce once;

  DatabaseOnceContract(TestDatabase kind) {
    this.kind = kind;
    source = kind.createWithTables();
    jdbc = new JdbcTemplate(source);
    jdbc.execute("create table effects (id varchar(20))");
    once =
        new DatabaseOnce(
            Database.of(source, "the test"),
            new DataSourceTransactionManager(source),
            "shop",
            Duration.ofHours(1));
  }

  private static TaskContext attempt(String id, String incarnation) {
    return new RunningAttempt(
        "order.close",
        id,
        incarnation,
        1,
        0,
        0,
        Map.of(),
        InstantSource.system(),
        new TimeLimit(Duration.ofSeconds(30), () -> {}),
        new HeldLease());
  }

  private void effect(String id) {
    jdbc.update("insert into effects values (?)", id);
  }

  private long effects() {
    Long rows = jdbc.queryForObject("select count(*) from effects", Long.class);
    return rows == null ? -1 : rows;
  }

  @Test
  void aJobThatIsDeliveredAgainIsLeftOut() throws Exception {
    assertThat(once.run(attempt("1", "a"), () -> effect("1"))).isTrue();
    assertThat(once.run(attempt("1", "a"), () -> effect("1"))).isFalse();
    assertThat(effects()).isEqualTo(1);
  }

  @Test
  void anIdThatIsUsedAgainIsAnotherJob() throws Exception {
    assertThat(once.run(attempt("1", "a"), () -> effect("1"))).isTrue();
    assertThat(once.run(attempt("1", "b"), () -> effect("1"))).isTrue();
    assertThat(once.run(attempt("x", "a"), () -> effect("x"))).isTrue();
    assertThat(once.run(attempt("X", "a"), () -> effect("X"))).isTrue();
    assertThat(effects()).isEqualTo(4);
  }

  @Test
  void workThatFailsLeavesNothingAndIsDoneAgain() throws Exception {
    assertThatThrownBy(
            () ->
                once.run(
                    attempt("1", "a"),
                    () -> {
                      effect("1");
                      throw new Exception("checked, too");
                    }))
        .hasMessage("checked, too");
    assertThatThrownBy(
            () ->
                once.run(
                    attempt("1", "a"),
                    () -> {
                      effect("1");
                      throw new RejectTaskException("never");
                    }))
        .isInstanceOf(RejectTaskException.class);
    assertThat(effects()).isZero();
    assertThat(jdbc.queryForList("select * from punctual_once")).isEmpty();

    assertThat(once.run(attempt("1", "a"), () -> effect("1"))).isTrue();
    assertThat(effects()).isEqualTo(1);
  }

  @Test
  void ofTwoDeliveriesAtOnceOneTakesEffect() throws Exception {
    CountDownLatch working = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    try (Threads threads = new Threads()) {
      Future<Boolean> first =
          threads.pool.submit(
              () ->
                  once.run(
                      attempt("1", "a"),
                      () -> {
                        effect("1");
                        working.countDown();
                        assertThat(end.await(30, TimeUnit.SECONDS)).isTrue();
                      }));
      assertThat(working.await(30, TimeUnit.SECONDS)).isTrue();
      Future<Boolean> second =
          threads.pool.submit(() -> once.run(attempt("1", "a"), () -> effect("1")));
      Awaitility.await().until(() -> kind.blocked(source) == 1);
      assertThat(second.isDone()).isFalse();
      end.countDown();
      assertThat(first.get(30, TimeUnit.SECONDS)).isTrue();
      assertThat(second.get(30, TimeUnit.SECONDS)).isFalse();
    }
    assertThat(effects()).isEqualTo(1);
  }

  @Test
  void whatIsDoneIsForgottenAfterItsTime() throws Exception {
    var unused = once.run(attempt("1", "a"), () -> effect("1"));
    once.clean();
    assertThat(once.run(attempt("1", "a"), () -> effect("1"))).isFalse();
    jdbc.update("update punctual_once set done_at = done_at - 3600001");
    once.clean();
    assertThat(once.run(attempt("1", "a"), () -> effect("1"))).isTrue();
  }

  @Test
  void aTransactionOfSomethingElseIsRefused() {
    DatabaseOnce wrong =
        new DatabaseOnce(
            Database.of(source, "the test"),
            new DataSourceTransactionManager(TestDatabase.H2.create()),
            "shop",
            Duration.ofHours(1));
    assertThatThrownBy(() -> wrong.run(attempt("1", "a"), () -> effect("1")))
        .hasMessageContaining("once: database wants a transaction of the application's DataSource")
        .hasMessageContaining("@Primary");
    assertThat(effects()).isZero();
  }

  /** Is not closable on Java 17. */
  private static final class Threads implements AutoCloseable {
    private final ExecutorService pool = Executors.newFixedThreadPool(2);

    @Override
    public void close() {
      pool.shutdownNow();
    }
  }
}
