package io.punctual.spring.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.JobInfo;
import io.punctual.SchedulerUnavailableException;
import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.job.QueueName;
import io.punctual.core.local.EngineJobScheduler;
import io.punctual.core.runtime.Engines;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.Ports;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.spi.JobScheduler;
import io.punctual.spi.StoreLosses;
import io.punctual.spring.CommitFailures;
import io.punctual.spring.DeferredCall;
import io.punctual.spring.jdbc.Database;
import io.punctual.spring.jdbc.TestDatabase;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * An outbox that keeps what it sent makes up for a Redis that lost it, on each database. Losses are
 * noticed after seconds: the databases wait side by side.
 */
@Execution(ExecutionMode.CONCURRENT)
abstract class ResendContract {

  private static final String TYPE = "order.close";
  private static final OutboxOptions OPTIONS =
      new OutboxOptions(
          Duration.ofMillis(100), Duration.ofSeconds(20), Duration.ofDays(1), Duration.ofDays(1));

  private final DataSource source;
  private final JdbcTemplate jdbc;
  private final TransactionTemplate transaction;
  private final Outbox outbox;
  private final Queue<String> ran = new ConcurrentLinkedQueue<>();
  private final Deque<OutboxRelay> relays = new ArrayDeque<>();
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  @TempDir private Path data;
  private RedisServer redis;
  private Engine engine;
  private JobScheduler scheduler;

  ResendContract(TestDatabase kind) {
    this.source = kind.createWithTables();
    this.jdbc = new JdbcTemplate(source);
    this.transaction = new TransactionTemplate(new DataSourceTransactionManager(source));
    this.outbox = outbox();
  }

  private Outbox outbox() {
    return new Outbox(Database.of(source, "the test"), "shop", CommitFailures.NONE);
  }

  @BeforeEach
  void start() {
    redis = RedisServer.start(Ports.free(), data, "--appendonly", "no", "--save", "");
    open.push(redis);
    engine = engine(redis);
    scheduler = new EngineJobScheduler("shop", engine);
    relay(outbox);
    // From then on a loss is noticed.
    eventually().until(() -> number("select count(*) from punctual_resend where store <> ''") == 1);
  }

  private Engine engine(RedisServer of) {
    JedisConnectionFactory connections =
        new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", of.port()));
    connections.afterPropertiesSet();
    connections.start();
    open.push(connections::destroy);
    Engine started =
        Engines.create(
            RedisStore.connect(connections, StoreOptions.DEFAULTS),
            EngineOptions.defaults("engine"),
            new Worker());
    open.push(started);
    started.start();
    return started;
  }

  /**
   * Jobs are done at once; the application is told, as by its listener, unless they run elsewhere.
   */
  private final class Worker implements Dispatcher {
    @Override
    public int capacity(QueueName queue) {
      return 100;
    }

    @Override
    public void dispatch(QueueName queue, List<Delivery> deliveries) {
      for (Delivery delivery : deliveries) {
        ran.add(delivery.taskId());
        if (!delivery.taskId().startsWith("elsewhere")) {
          outbox.done(TYPE, delivery.taskId());
        }
        var unused = delivery.done();
      }
    }
  }

  private OutboxRelay relay(Outbox of) {
    return relay(of, scheduler);
  }

  private OutboxRelay relay(Outbox of, JobScheduler with) {
    OutboxRelay relay = new OutboxRelay(of, with, OPTIONS);
    relays.push(relay);
    relay.start();
    return relay;
  }

  @AfterEach
  void stop() throws Exception {
    relays.forEach(OutboxRelay::stop);
    while (!open.isEmpty()) {
      open.pop().close();
    }
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().atMost(Duration.ofSeconds(60));
  }

  private static DelayQueueJob.Builder job(String id) {
    return DelayQueueJob.of(TYPE).taskId(id);
  }

  private void commit(DeferredCall... calls) {
    transaction.executeWithoutResult(status -> outbox.add(List.of(calls)));
  }

  private static DeferredCall send(DelayQueueJob.Builder job) {
    return new DeferredCall.Send(job.build());
  }

  private static DeferredCall move(String id, Instant dueAt) {
    return new DeferredCall.Reschedule(TYPE, id, dueAt, null);
  }

  private static DeferredCall cancel(String id) {
    return new DeferredCall.Cancel(TYPE, id);
  }

  private static Instant in(int hours) {
    return Instant.now().truncatedTo(ChronoUnit.MILLIS).plus(Duration.ofHours(hours));
  }

  private long number(String query) {
    Long number = jdbc.queryForObject(query, Long.class);
    return number == null ? -1 : number;
  }

  private void awaitSent() {
    eventually().until(() -> number("select count(*) from punctual_outbox") == 0);
  }

  private ResendStatus awaitResent() {
    eventually()
        .until(
            () -> {
              ResendStatus status = outbox.resendStatus();
              return status != null && status.endedAt() != null;
            });
    ResendStatus status = outbox.resendStatus();
    assertThat(status).isNotNull();
    return status;
  }

  private Map<String, Instant> dueTimes(String... ids) {
    return IntStream.range(0, ids.length)
        .mapToObj(i -> ids[i])
        .collect(Collectors.toMap(Function.identity(), id -> found(id).at()));
  }

  private JobInfo found(String id) {
    return scheduler.find(TYPE, id).orElseThrow(() -> new AssertionError(id + " is lost"));
  }

  @Test
  void whatAnEmptiedStoreLostIsThereAgainAsItWasWanted() throws IOException {
    Instant soon = Instant.now().plusSeconds(15);
    commit(send(job("soon").dueAt(soon)), move("soon", in(5)));
    commit(
        send(job("delayed").delay(Duration.ofMinutes(30))),
        send(job("dated").dueAt(in(1))),
        send(job("put.off").delay(Duration.ofMinutes(10))),
        send(job("preferred").dueAt(in(24))),
        send(job("cancelled").delay(Duration.ofMinutes(10))),
        send(job("tagged").delay(Duration.ofMinutes(10)).tag("order:1")),
        send(job("done").delay(Duration.ZERO)));
    commit(move("put.off", in(5)), move("preferred", in(2)), cancel("cancelled"));
    commit(new DeferredCall.CancelByTag("order:1"));
    awaitSent();
    eventually().until(() -> ran.contains("done"));
    eventually()
        .until(() -> number("select count(*) from punctual_sent where lane like '%done'") == 0);
    String[] wanted = {"delayed", "dated", "put.off", "preferred", "soon"};
    Map<String, Instant> before = dueTimes(wanted);
    // As it was sent, this one would run at once.
    eventually().until(() -> Instant.now().isAfter(soon));

    Resp.call(redis.port(), "FLUSHALL");

    ResendStatus status = awaitResent();
    assertThat(dueTimes(wanted)).isEqualTo(before);
    assertThat(scheduler.find(TYPE, "cancelled")).isEmpty();
    assertThat(scheduler.find(TYPE, "tagged")).isEmpty();
    assertThat(scheduler.find(TYPE, "done")).isEmpty();
    assertThat(status.since()).isNull();
    assertThat(status.missing()).isEqualTo(wanted.length);
    assertThat(status.present()).isEqualTo(2);
    assertThat(status.refused()).isZero();
    assertThat(ran).containsExactly("done");

    // And once more, of what was sent again.
    Resp.call(redis.port(), "FLUSHALL");
    eventually().until(() -> awaitResent().begunAt().isAfter(status.begunAt()));
    assertThat(awaitResent().missing()).isEqualTo(wanted.length);
    assertThat(dueTimes(wanted)).isEqualTo(before);
  }

  @Test
  void whatAnOlderCopyLacksIsMadeUpFor() throws IOException {
    commit(
        send(job("kept").delay(Duration.ofMinutes(30))),
        send(job("moved").delay(Duration.ofMinutes(30))),
        send(job("cancelled").delay(Duration.ofMinutes(30))));
    awaitSent();
    Resp.call(redis.port(), "SAVE");
    Path copy = data.resolve("copy");
    Files.copy(data.resolve("dump.rdb"), copy);
    commit(move("moved", in(5)), cancel("cancelled"), send(job("late").delay(Duration.ofHours(1))));
    awaitSent();
    String[] wanted = {"kept", "moved", "late"};
    Map<String, Instant> before = dueTimes(wanted);

    redis.kill();
    Files.move(copy, data.resolve("dump.rdb"), StandardCopyOption.REPLACE_EXISTING);
    redis.start();

    eventually()
        .ignoreExceptionsInstanceOf(SchedulerUnavailableException.class)
        .untilAsserted(
            () -> {
              assertThat(dueTimes(wanted)).isEqualTo(before);
              assertThat(found("cancelled").state()).isEqualTo(JobInfo.State.CANCELLED);
            });
    ResendStatus status = awaitResent();
    assertThat(status.since()).isNotNull();
    assertThat(status.refused()).isZero();
    assertThat(ran).isEmpty();
  }

  @Test
  void theLastSecondsBeforeARestartThatKeptAllDataAreSentAgainUnaskedAndNothingRunsTwice()
      throws IOException {
    writeToDisk();
    commit(send(job("old").delay(Duration.ofMinutes(30))));
    awaitSent();
    // Longer ago than a power cut can lose.
    jdbc.update("update punctual_sent set sent_at = sent_at - 600000");
    commit(
        send(job("1").delay(Duration.ofMinutes(30))),
        send(job("2").dueAt(in(1))),
        send(job("cancelled").delay(Duration.ofMinutes(30))),
        // The application does not learn that it is done.
        send(job("elsewhere").delay(Duration.ZERO)));
    commit(move("2", in(2)), cancel("cancelled"));
    awaitSent();
    eventually().until(() -> found("elsewhere").state() == JobInfo.State.FINISHED);
    String[] wanted = {"old", "1", "2"};
    Map<String, Instant> before = dueTimes(wanted);
    Instant killed = Instant.now();

    redis.kill();
    redis =
        RedisServer.start(
            redis.port(), data, "--appendonly", "yes", "--appendfsync", "everysec", "--save", "");
    open.push(redis);

    ResendStatus status = awaitResent();
    assertThat(status.since()).isBetween(killed.minusSeconds(60), killed);
    // No job: the cancel was made again, and its answer is that of the first time.
    assertThat(status.missing()).isEqualTo(1);
    assertThat(status.present()).isEqualTo(3);
    assertThat(status.refused()).isZero();
    assertThat(dueTimes(wanted)).isEqualTo(before);
    assertThat(found("cancelled").state()).isEqualTo(JobInfo.State.CANCELLED);
    assertThat(found("elsewhere").state()).isEqualTo(JobInfo.State.FINISHED);
    assertThat(ran).containsExactly("elsewhere");
  }

  /** From now on Redis keeps all that it has answered when its process is killed. */
  private void writeToDisk() throws IOException {
    Resp.call(redis.port(), "CONFIG", "SET", "appendonly", "yes");
    eventually()
        .until(
            () -> {
              String file = Resp.call(redis.port(), "INFO", "persistence");
              return file.contains("aof_enabled:1")
                  && file.contains("aof_rewrite_in_progress:0")
                  && file.contains("aof_rewrite_scheduled:0");
            });
  }

  @Test
  void anOperatorsRequestFindsEverythingInItsPlace() {
    commit(send(job("1").delay(Duration.ofMinutes(30))), send(job("2").dueAt(in(1))));
    commit(move("2", in(2)));
    awaitSent();
    Map<String, Instant> before = dueTimes("1", "2");

    engine.requestResend(Instant.now().minus(Duration.ofHours(1)));

    ResendStatus status = awaitResent();
    assertThat(status.missing()).isZero();
    assertThat(status.present()).isEqualTo(2);
    assertThat(dueTimes("1", "2")).isEqualTo(before);
  }

  @Test
  void aJobThatWasCancelledBeforeItCameBackNeverRuns() throws IOException {
    int jobs = 40;
    Instant due = Instant.now().plusSeconds(10);
    for (int i = 0; i < jobs; i++) {
      commit(send(job("j" + i).dueAt(due)));
    }
    awaitSent();
    assertThat(ran).isEmpty();

    redis.kill();
    for (int i = 0; i < jobs; i += 2) {
      commit(cancel("j" + i));
    }
    // The new one is empty: nothing was saved.
    eventually().until(() -> Instant.now().isAfter(due));
    redis.start();

    eventually().until(() -> ran.size() >= jobs / 2);
    ResendStatus status = awaitResent();
    assertThat(status.missing()).isEqualTo(jobs / 2);
    assertThat(ran)
        .containsExactlyInAnyOrderElementsOf(
            IntStream.range(0, jobs).filter(i -> i % 2 == 1).mapToObj(i -> "j" + i).toList());
  }

  @Test
  void anotherInstanceGoesOnAndALossInTheMiddleBeginsAnew() throws IOException {
    int jobs = 1500;
    sendMany(jobs);
    awaitSent();
    Resp.call(redis.port(), "FLUSHALL");
    awaitMissing(200);
    relays.pop().stop();
    assertThat(outbox.resendStatus()).returns(null, ResendStatus::endedAt);

    OutboxRelay second = relay(outbox());
    awaitMissing(500);
    Resp.call(redis.port(), "FLUSHALL");

    eventually()
        .until(
            () ->
                IntStream.range(0, jobs).allMatch(i -> scheduler.find(TYPE, "j" + i).isPresent()));
    ResendStatus status = awaitResent();
    assertThat(status.refused()).isZero();
    // Those that were sent behind the second loss are there when it is made up for.
    assertThat(status.missing()).isGreaterThanOrEqualTo(500);
    assertThat(status.missing() + status.present()).isGreaterThanOrEqualTo(jobs);
    assertThat(second.isRunning()).isTrue();
    assertThat(ran).isEmpty();
  }

  @Test
  void aJobThatWasMovedBeforeItIsBackComesBackWithItsNewTime() throws IOException {
    sendMany(1500);
    commit(send(job("moved").delay(Duration.ofMinutes(30))));
    awaitSent();
    Resp.call(redis.port(), "FLUSHALL");
    awaitMissing(1);

    // Its turn comes seconds later: the scheduler does not know it.
    Instant later = in(5);
    commit(move("moved", later));

    assertThat(awaitResent().missing()).isEqualTo(1501);
    assertThat(found("moved").at()).isEqualTo(later);
  }

  @Test
  void jobsThatWereCancelledByTagWhenTheyWereLostStayCancelled() throws IOException {
    commit(
        send(job("lost").delay(Duration.ofMinutes(30)).tag("order:1")),
        send(job("odd").delay(Duration.ofMinutes(30)).tag("\"order\\_%")),
        send(job("other").delay(Duration.ofMinutes(30)).tag("order:2")));
    awaitSent();
    Resp.call(redis.port(), "FLUSHALL");
    commit(new DeferredCall.CancelByTag("order:1"), new DeferredCall.CancelByTag("\"order\\_%"));
    awaitSent();
    commit(send(job("next").delay(Duration.ofMinutes(30)).tag("order:1")));
    awaitSent();

    ResendStatus status = awaitResent();
    assertThat(scheduler.find(TYPE, "lost")).isEmpty();
    assertThat(scheduler.find(TYPE, "odd")).isEmpty();
    assertThat(status.missing()).isEqualTo(1);
    assertThat(dueTimes("other", "next")).hasSize(2);
    assertThat(number("select count(*) from punctual_sent where kind = 'send'")).isEqualTo(2);

    // And the next time.
    Resp.call(redis.port(), "FLUSHALL");
    eventually().until(() -> awaitResent().begunAt().isAfter(status.begunAt()));
    assertThat(awaitResent().missing()).isEqualTo(2);
    assertThat(scheduler.find(TYPE, "lost")).isEmpty();
    assertThat(dueTimes("other", "next")).hasSize(2);
  }

  @Test
  void whatWasAnsweredBeforeTheLossAndIsWrittenDownLaterIsSentAgain() throws Exception {
    Gate gate = new Gate();
    relays.pop().stop();
    relay(outbox(), slow("cancel", gate));
    // One batch: the jobs are sent, and the cancel is not answered yet.
    commit(send(job("1").delay(Duration.ofMinutes(30))), send(job("2").dueAt(in(1))), cancel("0"));

    loseWhatIsUnderWay(gate);

    assertThat(dueTimes("1", "2")).hasSize(2);
  }

  @Test
  void whatIsWrittenDownByASlowCommitIsSentAgain() throws Exception {
    Gate gate = new Gate();
    relays.pop().stop();
    Statements slow =
        new Statements(
            source,
            sql -> {
              // The last one of the transaction that has written down what was sent.
              if (sql.startsWith("delete from punctual_outbox where id in")) {
                gate.run();
              }
            });
    relay(new Outbox(Database.of(slow, "the test"), "shop", CommitFailures.NONE));
    commit(send(job("1").delay(Duration.ofMinutes(30))), send(job("2").dueAt(in(1))));

    loseWhatIsUnderWay(gate);

    assertThat(dueTimes("1", "2")).hasSize(2);
  }

  @Test
  void aCancelByTagThatIsAnsweredBeforeTheLossAndWrittenDownLaterIsRepeated() throws Exception {
    String tag = "\"order\\_%";
    commit(send(job("tagged").delay(Duration.ofMinutes(30)).tag(tag)));
    awaitSent();
    // Longer ago than what is sent again for the copy.
    jdbc.update("update punctual_sent set sent_at = sent_at - 600000");
    Resp.call(redis.port(), "SAVE");
    Path copy = data.resolve("copy");
    Files.copy(data.resolve("dump.rdb"), copy);
    Gate gate = new Gate();
    relays.pop().stop();
    relay(outbox(), slow("cancelByTag", gate));
    commit(new DeferredCall.CancelByTag(tag));
    gate.awaitArrival();
    assertThat(found("tagged").state()).isEqualTo(JobInfo.State.CANCELLED);
    relay(outbox());

    redis.kill();
    Files.move(copy, data.resolve("dump.rdb"), StandardCopyOption.REPLACE_EXISTING);
    redis.start();
    eventually().until(() -> outbox.resendStatus() != null);
    assertThat(found("tagged").state()).isEqualTo(JobInfo.State.DELAYED);
    gate.open();
    awaitSent();

    assertThat(awaitResent().since()).isNotNull();
    assertThat(found("tagged").state()).isEqualTo(JobInfo.State.CANCELLED);
  }

  /** The scheduler, whose answers to a kind of call are held up. */
  private JobScheduler slow(String call, Runnable beforeTheAnswer) {
    return answering(
        scheduler,
        (name, answer) -> {
          if (name.equals(call)) {
            beforeTheAnswer.run();
          }
          return answer;
        });
  }

  private static JobScheduler answering(JobScheduler scheduler, BinaryOperator<Object> answers) {
    return (JobScheduler)
        Proxy.newProxyInstance(
            ResendContract.class.getClassLoader(),
            new Class<?>[] {JobScheduler.class},
            (proxy, method, arguments) -> {
              try {
                return answers.apply(method.getName(), method.invoke(scheduler, arguments));
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            });
  }

  private void loseWhatIsUnderWay(Gate gate) throws IOException {
    gate.awaitArrival();
    relay(outbox());
    eventually().until(() -> scheduler.find(TYPE, "1").isPresent());
    Resp.call(redis.port(), "FLUSHALL");
    eventually().until(() -> outbox.resendStatus() != null);
    // Longer than it takes where nothing is under way.
    Awaitility.await()
        .during(Duration.ofSeconds(2))
        .until(() -> scheduler.find(TYPE, "1").isEmpty());
    gate.open();
    awaitSent();
    var unused = awaitResent();
  }

  /** Blocks a thread until the test opens the gate. */
  private static final class Gate implements Runnable {

    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    @Override
    public void run() {
      arrived.countDown();
      await(opened);
    }

    void awaitArrival() {
      await(arrived);
    }

    void open() {
      opened.countDown();
    }

    private static void await(CountDownLatch latch) {
      try {
        assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  void aRedisThatBeganLaterGetsEverything() {
    commit(send(job("1").delay(Duration.ofMinutes(30))));
    awaitSent();
    relays.pop().stop();
    RedisServer other = RedisServer.startTemporary();
    open.push(other);
    scheduler = new EngineJobScheduler("shop", engine(other));

    relay(outbox());

    assertThat(awaitResent().missing()).isEqualTo(1);
    assertThat(dueTimes("1")).hasSize(1);
  }

  @Test
  void aRedisThatWasThereBeforeGetsNothingUntilAnOperatorAsks() throws IOException {
    commit(send(job("1").delay(Duration.ofMinutes(30))));
    awaitSent();
    relays.pop().stop();
    RedisServer other = RedisServer.startTemporary();
    open.push(other);
    long begun = Instant.now().minus(Duration.ofHours(1)).toEpochMilli();
    Resp.call(other.port(), "HSET", "punctual:epoch", "id", "there-before " + begun);
    String first = Objects.requireNonNull(engine.lossJournal().store());
    Resp.call(redis.port(), "HSET", "punctual:epoch", "id", first + " " + begun);
    Engine again = engine(other);
    scheduler = new EngineJobScheduler("shop", again);

    relay(outbox());
    awaitStore("there-before");

    assertThat(outbox.resendStatus()).isNull();
    // Nor when both answer in turn, as two installations of one name do.
    relays.pop().stop();
    JobScheduler second = scheduler;
    scheduler = new EngineJobScheduler("shop", engine);
    relay(outbox());
    awaitStore(first);
    assertThat(outbox.resendStatus()).isNull();
    relays.pop().stop();
    scheduler = second;
    relay(outbox());
    awaitStore("there-before");
    assertThat(outbox.resendStatus()).isNull();
    assertThat(scheduler.find(TYPE, "1")).isEmpty();

    var unused = again.requestResend(Instant.EPOCH);

    assertThat(awaitResent().missing()).isEqualTo(1);
    assertThat(dueTimes("1")).hasSize(1);
  }

  @Test
  void anApplicationThatMovesToSchedulersSendsThemNoJobThatWaitsInItsOwnRedis() {
    commit(send(job("1").delay(Duration.ofMinutes(30))));
    awaitSent();
    relays.pop().stop();
    RedisServer other = RedisServer.startTemporary();
    open.push(other);
    JobScheduler plugin = new EngineJobScheduler("shop", engine(other));

    relay(
        outbox(),
        answering(
            plugin,
            (call, answer) ->
                answer instanceof StoreLosses losses && losses.store() != null
                    ? new StoreLosses("theirs", losses.now(), losses.begun(), losses.losses())
                    : answer));
    awaitStore("theirs");

    assertThat(outbox.resendStatus()).isNull();
    assertThat(plugin.find(TYPE, "1")).isEmpty();
    assertThat(dueTimes("1")).hasSize(1);
  }

  private void awaitStore(String name) {
    eventually()
        .until(
            () ->
                number("select count(*) from punctual_resend where store like '%" + name + "'")
                    == 1);
  }

  @Test
  void aMovedJobThatIsDoneElsewhereIsForgotten() {
    commit(send(job("elsewhere").delay(Duration.ofMinutes(30))));
    commit(move("elsewhere", Instant.now()));
    awaitSent();
    eventually().until(() -> found("elsewhere").state() == JobInfo.State.FINISHED);

    engine.requestResend(Instant.now().minus(Duration.ofHours(1)));

    ResendStatus status = awaitResent();
    assertThat(status.refused()).isZero();
    assertThat(status.present()).isEqualTo(1);
    assertThat(number("select count(*) from punctual_sent")).isZero();
    assertThat(number("select count(*) from punctual_outbox")).isZero();
    assertThat(ran).containsExactly("elsewhere");
  }

  private void sendMany(int jobs) {
    transaction.executeWithoutResult(
        status ->
            outbox.add(
                IntStream.range(0, jobs)
                    .mapToObj(i -> send(job("j" + i).delay(Duration.ofMinutes(30))))
                    .toList()));
  }

  private void awaitMissing(long jobs) {
    eventually()
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              ResendStatus status = outbox.resendStatus();
              return status != null && status.missing() >= jobs;
            });
  }
}
