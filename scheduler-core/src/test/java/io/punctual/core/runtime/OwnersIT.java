package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.Submit;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Members;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.WakeUps;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.Resp;
import io.punctual.wire.PunctualVersion;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several engines, of which one owns each bucket: what a job costs, and who stands in for whom. */
class OwnersIT extends OwnRedisTestBase {

  private static final int BUCKETS = 16;
  private static final String MEMBERS = "punctual:members";

  /** Engines that are told of the others what the test likes, and never hear of another one. */
  private static final class Told implements Members {

    private final List<Member> others;

    Told(Member... others) {
      this.others = List.of(others);
    }

    @Override
    public Others beat(Member member, Duration life) {
      return new Others(others, null);
    }

    @Override
    public void leave(Member member) {}

    @Override
    public void offer(Bucket bucket, long due) {}
  }

  /** When each job was first delivered, ns. */
  private final Map<String, Long> delivered = new ConcurrentHashMap<>();

  private final Consumer<Delivery> worker =
      delivery -> {
        delivered.putIfAbsent(delivery.taskId(), System.nanoTime());
        var unused = delivery.done();
      };

  private Store own() {
    return RedisStore.connect(own, StoreOptions.DEFAULTS);
  }

  private static Store with(Store store, Members members) {
    return new Store(
        store.jobs(),
        store.queues(),
        store.wakeUps(),
        members,
        store.inspector(),
        store.epoch(),
        store.calls(),
        store.schedules(),
        store.calendars());
  }

  private Engine engine(String name, Store store, TestDispatcher dispatcher) {
    EngineOptions options = EngineOptions.defaults(name).with().buckets(BUCKETS).build();
    return engine(store, options, dispatcher, null);
  }

  private TestDispatcher working() {
    return new TestDispatcher(worker);
  }

  private static TestDispatcher full() {
    TestDispatcher full = new TestDispatcher();
    full.capacity.set(0);
    return full;
  }

  private void awaitMembers(int count) {
    eventually().until(() -> Resp.call(server.port(), "HLEN", MEMBERS).equals("" + count));
  }

  private long calls() throws Exception {
    return Resp.call(server.port(), "INFO", "commandstats")
        .lines()
        .filter(line -> line.startsWith("cmdstat_eval"))
        .mapToLong(line -> Long.parseLong(line.replaceAll(".*:calls=(\\d+),.*", "$1")))
        .sum();
  }

  /** Submits jobs to all buckets that fall due one after the other; returns when the last does. */
  private static long submit(Engine engine, int jobs, long firstDue, long apart) {
    List<CompletableFuture<Submit>> answers = new ArrayList<>();
    for (int i = 0; i < jobs; i++) {
      long due = firstDue + i * apart;
      answers.add(
          engine.submit(
              APP,
              DelayQueueJob.of(TYPE).taskId("" + i).delayTime(due).build(),
              /* replace= */ false));
    }
    answers.forEach(CompletableFuture::join);
    return firstDue + jobs * apart;
  }

  private double callsForEachJob(int engines) throws Exception {
    List<Engine> all =
        IntStream.range(0, engines)
            .mapToObj(
                i -> {
                  EngineOptions options =
                      EngineOptions.defaults("engine" + i).with().buckets(4).build();
                  return engine(own(), options, working(), null);
                })
            .toList();
    awaitMembers(engines);
    int jobs = 600;
    submit(all.get(0), jobs, System.currentTimeMillis() + 2_000, 10);
    long before = calls();
    eventually().until(() -> delivered.size() == jobs);
    double each = (double) (calls() - before) / jobs;
    closeEngines();
    return each;
  }

  @Tag("full")
  @Test
  void aJobCostsTheSameWithFourEnginesAsWithOne() throws Exception {
    double one = callsForEachJob(1);
    delivered.clear();
    Resp.call(server.port(), "FLUSHALL");
    double four = callsForEachJob(4);
    System.out.printf("Script calls a job: %.2f with 1 engine, %.2f with 4%n", one, four);
    assertThat(four).isLessThan(1.4 * one);
  }

  private Duration latest(long firstDue, long apart, long startMillis, long startNanos) {
    return lateness(1, firstDue, apart, startMillis, startNanos);
  }

  /** How late jobs are at most, but for the share that is later: a machine may stand still. */
  private Duration lateness(
      double share, long firstDue, long apart, long startMillis, long startNanos) {
    return delivered.entrySet().stream()
        .map(
            entry -> {
              long due = firstDue + apart * Integer.parseInt(entry.getKey());
              long at = startMillis + TimeUnit.NANOSECONDS.toMillis(entry.getValue() - startNanos);
              return Duration.ofMillis(at - due);
            })
        .sorted()
        .toList()
        .get((int) Math.ceil(share * delivered.size()) - 1);
  }

  @Test
  void theBucketsOfAnOwnerThatIsKilledGoToAnother() {
    TestDispatcher dying = working();
    Engine victim = engine("victim", own(), dying);
    Engine survivor = engine("survivor", own(), working());
    awaitMembers(2);
    long nanos = System.nanoTime();
    long millis = System.currentTimeMillis();
    long first = millis + 1_000;
    submit(survivor, 1_000, first, 5);
    eventually().until(() -> delivered.size() > 300);
    assertThat(dying.seen).isNotEmpty();
    victim.close();
    List<String> held =
        survivor.operations().jobs(QUEUE, JobState.RESERVED, null, 200).jobs().stream()
            .filter(job -> job.lease() != null && job.lease().owner().equals("victim"))
            .map(JobView::taskId)
            .toList();

    // What it had claimed and not acknowledged comes again when its lease of 10 s is over.
    eventually().until(() -> delivered.size() == 1_000);
    System.out.printf("Jobs that the killed owner held: %d%n", held.size());
    assertThat(latest(first, 5, millis, nanos)).isLessThan(Duration.ofSeconds(12));
    held.forEach(delivered::remove);
    Duration latest = latest(first, 5, millis, nanos);
    System.out.println("Latest other job when an owner is killed: " + latest);
    assertThat(latest).isLessThan(Duration.ofSeconds(5));
  }

  @Test
  void anEngineSaysItsOwnVersion() {
    Engine engine = engine(own(), options("e1"), TestDispatcher.done(), null);
    assertThat(engine.members().values()).containsExactly(PunctualVersion.text());
  }

  @Test
  void anEngineThatHearsNothingOwnsNothing() {
    Store store = own();
    WakeUps silent =
        listener -> {
          listener.lost();
          return () -> {};
        };
    Store deaf =
        new Store(
            store.jobs(),
            store.queues(),
            silent,
            store.members(),
            store.inspector(),
            store.epoch(),
            store.calls(),
            store.schedules(),
            store.calendars());
    engine("deaf", deaf, working());
    Engine hearing = engine("hearing", own(), working());
    awaitMembers(2);
    // Its entry ends with the queues that it serves: none.
    eventually()
        .until(
            () ->
                Resp.call(server.port(), "HVALS", MEMBERS)
                    .lines()
                    .anyMatch(entry -> entry.matches("\\d+ 1500 \\S+ ")));
    long nanos = System.nanoTime();
    long millis = System.currentTimeMillis();
    long first = millis + 1_000;
    submit(hearing, 200, first, 5);
    eventually().until(() -> delivered.size() == 200);
    // Without an owner, half of them wait for a deputy, for one to two seconds.
    assertThat(lateness(0.9, first, 5, millis, nanos)).isLessThan(Duration.ofSeconds(1));
  }

  @Test
  void anOwnerThatStopsHandsOverAtOnce() {
    TestDispatcher leaving = working();
    Engine leaver = engine("leaver", own(), leaving);
    Engine stayer = engine("stayer", own(), working());
    awaitMembers(2);
    long nanos = System.nanoTime();
    long millis = System.currentTimeMillis();
    long first = millis + 1_000;
    submit(stayer, 1_000, first, 5);
    eventually().until(() -> delivered.size() > 300);
    assertThat(leaving.seen).isNotEmpty();
    leaver.stop(Duration.ofSeconds(5));
    awaitMembers(1);

    eventually().until(() -> delivered.size() == 1_000);
    Duration latest = latest(first, 5, millis, nanos);
    System.out.println("Latest job when an owner stops: " + latest);
    // Until the leaver is missed, 150 jobs are due in its buckets, for up to 1.5 s.
    assertThat(lateness(0.97, first, 5, millis, nanos)).isLessThan(Duration.ofSeconds(1));
  }

  @Test
  void jobsOfAnOwnerWithoutCapacityAreOfferedToTheOthers() {
    Engine busy = engine("busy", own(), full());
    engine("free", own(), working());
    awaitMembers(2);
    long nanos = System.nanoTime();
    long millis = System.currentTimeMillis();
    long first = millis + 500;
    submit(busy, 1_000, first, 5);
    eventually().until(() -> delivered.size() == 1_000);
    // Without offers, half of them wait for a deputy, for up to two seconds.
    assertThat(lateness(0.9, first, 5, millis, nanos)).isLessThan(Duration.ofSeconds(1));
  }

  @Test
  void aPullGetsDueJobsAtOnceAtAnyEngine() throws Exception {
    Engine one = engine("one", own(), full());
    Engine two = engine("two", own(), full());
    awaitMembers(2);
    submit(one, 64, System.currentTimeMillis() + 3_600_000, 1);
    for (Engine engine : List.of(one, two)) {
      PullRequest request =
          new PullRequest(List.of(QUEUE), 200, Duration.ofSeconds(20), null, "tester");
      for (int bucket = 0; bucket < BUCKETS; bucket++) {
        CompletableFuture<List<PulledJob>> pulled = engine.claims().pull(request);
        String id = (engine == one ? "one-" : "two-") + bucket;
        long due = System.currentTimeMillis() + 100;
        submit(engine == one ? two : one, id, job -> job.delayTime(due));
        List<PulledJob> jobs = pulled.get(20, TimeUnit.SECONDS);
        assertThat(jobs).extracting(job -> job.token().taskId()).containsExactly(id);
        assertThat(System.currentTimeMillis() - due).isLessThan(1_000);
        engine.claims().done(jobs.get(0).token()).join();
      }
    }
  }

  @Test
  void ifAllBelieveThatTheyAreTheOwnerEachJobRunsOnce() {
    TestDispatcher one = working();
    TestDispatcher two = working();
    Engine first = engine("one", with(own(), new Told()), one);
    engine("two", with(own(), new Told()), two);
    submit(first, 400, System.currentTimeMillis() + 500, 1);
    eventually().until(() -> delivered.size() == 400);
    List<String> all = new ArrayList<>(one.seen);
    all.addAll(two.seen);
    assertThat(all).hasSize(400).doesNotHaveDuplicates();
  }

  @Test
  void ifTheOwnersAreNotThereTheOthersLookAllTheSame() {
    Members.Member[] ghosts =
        IntStream.range(0, 4)
            .mapToObj(i -> new Members.Member("ghost" + i, "1.2.3", null))
            .toArray(Members.Member[]::new);
    Engine alone = engine("alone", with(own(), new Told(ghosts)), working());
    long nanos = System.nanoTime();
    long millis = System.currentTimeMillis();
    long first = millis + 2_000;
    submit(alone, 160, first, 1);
    eventually().until(() -> delivered.size() == 160);
    assertThat(latest(first, 1, millis, nanos)).isLessThan(Duration.ofSeconds(12));
  }

  /** As if its process was stopped: it claims nothing, and sends no heartbeat. */
  private Store freezing(AtomicBoolean frozen) {
    Store real = own();
    JobStore jobs =
        (JobStore)
            Proxy.newProxyInstance(
                JobStore.class.getClassLoader(),
                new Class<?>[] {JobStore.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("claim")) {
                    eventually().until(() -> !frozen.get());
                  }
                  try {
                    return method.invoke(real.jobs(), arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
    Members members = real.members();
    Members frozenMembers =
        new Members() {
          @Override
          public Others beat(Member member, Duration life) {
            if (frozen.get()) {
              throw new StoreException(StoreException.Kind.UNREACHABLE, "frozen");
            }
            return members.beat(member, life);
          }

          @Override
          public void leave(Member member) {
            members.leave(member);
          }

          @Override
          public void offer(Bucket bucket, long due) {
            members.offer(bucket, due);
          }
        };
    return new Store(
        jobs,
        real.queues(),
        real.wakeUps(),
        frozenMembers,
        real.inspector(),
        real.epoch(),
        real.calls(),
        real.schedules(),
        real.calendars());
  }

  @Test
  void aFrozenOwnerIsMissedAndComesBack() {
    AtomicBoolean frozen = new AtomicBoolean();
    TestDispatcher freezing = working();
    engine("freezing", freezing(frozen), freezing);
    Engine other = engine("other", own(), working());
    awaitMembers(2);
    long nanos = System.nanoTime();
    long millis = System.currentTimeMillis();
    long first = millis + 1_000;
    submit(other, 1_000, first, 5);
    eventually().until(() -> delivered.size() > 200);
    assertThat(freezing.seen).isNotEmpty();
    frozen.set(true);
    awaitMembers(1);
    eventually().until(() -> delivered.size() > 800);
    frozen.set(false);
    awaitMembers(2);
    eventually().until(() -> delivered.size() == 1_000);
    assertThat(latest(first, 5, millis, nanos)).isLessThan(Duration.ofSeconds(5));
    int before = freezing.seen.size();
    delivered.clear();
    long again = System.currentTimeMillis() + 500;
    for (int i = 0; i < 200; i++) {
      submit(other, "again-" + i, job -> job.delayTime(again));
    }
    eventually().until(() -> delivered.size() == 200);
    assertThat(freezing.seen.size()).isGreaterThan(before);
  }

  @Test
  void membersComeAgainWhenTheStoreHasForgottenThem() throws Exception {
    engine("one", own(), working());
    Engine two = engine("two", own(), working());
    awaitMembers(2);
    Resp.call(server.port(), "DEL", MEMBERS);
    awaitMembers(2);
    Resp.call(server.port(), "FLUSHALL");
    awaitMembers(2);
    server.kill();
    server.start();
    awaitMembers(2);
    // The first calls may get a connection of before.
    eventually().untilAsserted(() -> submit(two, "first", Duration.ZERO));
    eventually().untilAsserted(() -> submit(two, 100, System.currentTimeMillis() + 500, 1));
    eventually().until(() -> delivered.size() == 101);
  }

  @Test
  void anEngineOwnsOnlyQueuesThatItServes() {
    TestDispatcher working = working();
    Engine serving = engine("serving", own(), working);
    EngineOptions options = EngineOptions.defaults("other").with().buckets(BUCKETS).build();
    engine(
        own(),
        options,
        new Dispatcher() {
          @Override
          public boolean serves(QueueName queue) {
            return false;
          }

          @Override
          public boolean servesAll() {
            return false;
          }

          @Override
          public int capacity(QueueName queue) {
            return 0;
          }

          @Override
          public void dispatch(QueueName queue, List<Delivery> deliveries) {}
        },
        null);
    awaitMembers(2);
    long nanos = System.nanoTime();
    long millis = System.currentTimeMillis();
    submit(serving, 200, millis + 500, 5);
    eventually().until(() -> delivered.size() == 200);
    assertThat(lateness(0.9, millis + 500, 5, millis, nanos)).isLessThan(Duration.ofSeconds(1));
  }
}
