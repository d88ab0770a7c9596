package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Throttle;
import io.punctual.core.scan.ScanSignals;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * A store stands still, and executes the claims that were sent to it meanwhile once it goes on. The
 * leases are so long that none of them runs out within a test.
 */
@Tag("full")
class UnansweredClaimIT extends OwnRedisTestBase {

  private static final int JOBS = 30;

  /** Long enough that all jobs are submitted before the first is due, also on a busy machine. */
  private static final Duration DUE_IN = Duration.ofSeconds(5);

  /** More than other calls of an engine take at one time. */
  private static final int CONNECTIONS = 8;

  private final AtomicInteger pages = new AtomicInteger();
  private final AtomicInteger releases = new AtomicInteger();
  private final AtomicBoolean standsStillAtClaim = new AtomicBoolean();

  /** Counts the scanner's calls that failed. */
  private static final class Failures implements ScanSignals {
    private final AtomicInteger failed = new AtomicInteger();

    @Override
    public void failed(Bucket bucket) {
      failed.incrementAndGet();
    }
  }

  private Engine engine(TestDispatcher dispatcher, Failures failures) {
    Store real = RedisStore.connect(own, new StoreOptions(prefix, Duration.ofMinutes(10)));
    Store store =
        new Store(
            counting(real.jobs()),
            real.queues(),
            real.wakeUps(),
            real.members(),
            real.inspector(),
            real.epoch(),
            real.calls(),
            real.schedules(),
            real.calendars());
    EngineOptions options = options("engine").with().lease(Duration.ofMinutes(5)).build();
    return engine(store, options, dispatcher, failures);
  }

  /** Counts the calls that release jobs, and those that list jobs; Redis may stop at a claim. */
  private JobStore counting(JobStore jobs) {
    return (JobStore)
        Proxy.newProxyInstance(
            JobStore.class.getClassLoader(),
            new Class<?>[] {JobStore.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("claim") && standsStillAtClaim.getAndSet(false)) {
                server.suspend();
              } else if (method.getName().equals("list")) {
                pages.incrementAndGet();
              } else if (method.getName().equals("settle")
                  && ((List<?>) arguments[1])
                      .stream()
                          .anyMatch(one -> ((Settlement) one).op() == Settlement.Op.RETURNED)) {
                releases.incrementAndGet();
              }
              try {
                return method.invoke(jobs, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static List<String> submitAll(Engine engine, Duration delay) {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < JOBS; i++) {
      ids.add("j" + i);
      submit(engine, "j" + i, delay);
    }
    return ids;
  }

  // A claim is sent only over a connection that was made before: a new one waits for the first
  // answer. So Redis stops at the claim itself, with idle connections at hand, since one call that
  // fails earlier, such as a heartbeat, closes all that are idle.
  private void standStillAtClaim(Failures failures) {
    long due = System.nanoTime() + DUE_IN.toNanos();
    List<RedisConnection> idle = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      idle.add(own.getConnection());
    }
    idle.forEach(RedisConnection::ping);
    idle.forEach(RedisConnection::close);
    standsStillAtClaim.set(true);
    eventually().until(() -> failures.failed.get() > 0 && System.nanoTime() - due > 0);
    server.resume();
  }

  @Test
  void whatTheyTookGoesOutAtOnce() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Failures failures = new Failures();
    Engine engine = engine(dispatcher, failures);
    List<String> ids = submitAll(engine, DUE_IN);
    standStillAtClaim(failures);

    eventually().until(() -> dispatcher.seen.size() >= JOBS);
    assertThat(dispatcher.seen).containsExactlyInAnyOrderElementsOf(ids);
    eventually()
        .untilAsserted(
            () -> assertThat(engine.stats(QUEUE).orElseThrow().reserved()).as("reserved").isZero());
    // However many claims had no answer.
    assertThat(releases.get()).as("calls that released jobs").isPositive();
    assertThat(releases.get()).as("for each page of jobs").isLessThanOrEqualTo(pages.get());
  }

  @Test
  void andDoesNotTakeUpThePlacesOfABoundedQueue() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Failures failures = new Failures();
    Engine engine = engine(dispatcher, failures);
    List<String> ids = submitAll(engine, DUE_IN);
    engine.operations().limit(QUEUE, new Throttle(5, null));
    standStillAtClaim(failures);

    eventually().until(() -> dispatcher.seen.size() >= JOBS);
    assertThat(dispatcher.seen).containsExactlyInAnyOrderElementsOf(ids);
  }

  @Test
  void norIsItLostToThoseWhoPull() {
    TestDispatcher nobody = new TestDispatcher();
    nobody.capacity.set(0);
    Engine engine = engine(nobody, new Failures());
    submit(engine, "a", Duration.ZERO);
    PullRequest request =
        new PullRequest(List.of(QUEUE), 1, Duration.ZERO, Duration.ofMinutes(5), "w");
    server.suspend();
    assertThat(pullFails(engine, request)).isTrue();
    server.resume();

    List<PulledJob> pulled = new ArrayList<>();
    eventually()
        .until(
            () -> {
              pulled.addAll(engine.claims().pull(request).join());
              return !pulled.isEmpty();
            });
    assertThat(pulled).singleElement().returns(1, PulledJob::attempt);
  }

  private static boolean pullFails(Engine engine, PullRequest request) {
    try {
      engine.claims().pull(request).join();
      return false;
    } catch (CompletionException | StoreException e) {
      return true;
    }
  }
}
