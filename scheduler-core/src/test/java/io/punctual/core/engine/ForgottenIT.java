package io.punctual.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.JobState;
import io.punctual.core.store.Epoch;
import io.punctual.core.store.EpochMarker;
import io.punctual.core.store.RedisStore;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreLoss;
import io.punctual.core.store.StoreOptions;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store is emptied that one engine puts jobs into, and another one takes them from. */
class ForgottenIT extends OwnRedisTestBase {

  private final Map<RepeatCause, Integer> repeats = new ConcurrentHashMap<>();

  /** Notices nothing from when it is told until it is let. */
  private static final class Blind implements EpochMarker {

    private final EpochMarker marker;
    private volatile CountDownLatch sees = new CountDownLatch(0);

    Blind(EpochMarker marker) {
      this.marker = marker;
    }

    @Override
    public Epoch advance() {
      try {
        if (!sees.await(30, TimeUnit.SECONDS)) {
          throw new AssertionError("never let");
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return marker.advance();
    }

    @Override
    public void report(String key, StoreLoss loss) {
      marker.report(key, loss);
    }

    @Override
    public List<StoreLoss> losses() {
      return marker.losses();
    }

    @Override
    public void acknowledge() {
      marker.acknowledge();
    }
  }

  private final class Side {

    final Blind marker;
    final Engine engine;

    Side(String owner, TestDispatcher dispatcher) throws IOException {
      Store store = RedisStore.connect(own, new StoreOptions(prefix, Duration.ofMinutes(10)));
      this.marker = new Blind(store.epoch());
      EngineOptions options =
          EngineOptions.defaults(owner).with().listener(queue -> counting()).build();
      this.engine =
          engine(
              new Store(store.jobs(), store.queues(), store.wakeUps(), store.inspector(), marker),
              options,
              dispatcher,
              null);
      eventually().until(() -> engine.storeHealth().begun() != null);
    }

    void close() {
      marker.sees = new CountDownLatch(1);
    }

    void open() {
      marker.sees.countDown();
    }

    void awaitLoss() {
      eventually().until(() -> !engine.storeHealth().losses().isEmpty());
    }
  }

  private QueueListener counting() {
    return new QueueListener() {
      @Override
      public void repeated(RepeatCause cause, int jobs) {
        repeats.merge(cause, jobs, Integer::sum);
      }
    };
  }

  private static TestDispatcher nobody() {
    TestDispatcher dispatcher = new TestDispatcher();
    dispatcher.capacity.set(0);
    return dispatcher;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsDoneStaysDoneWhoeverNoticesFirst(boolean acceptorFirst) throws Exception {
    TestDispatcher worker = new TestDispatcher();
    Side acceptor = new Side("acceptor", nobody());
    Side deliverer = new Side("deliverer", worker);
    submit(acceptor.engine, "done", Duration.ZERO);
    worker.next().done().join();
    submit(acceptor.engine, "underWay", Duration.ZERO);
    submit(acceptor.engine, "underWayToo", Duration.ZERO);
    Delivery first = worker.next();
    Delivery second = worker.next();
    worker.capacity.set(0);
    submit(acceptor.engine, "notSent", Duration.ZERO);
    submit(acceptor.engine, "later", Duration.ofHours(1));
    acceptor.close();
    deliverer.close();

    Resp.call(server.port(), "FLUSHALL");
    worker.capacity.set(200);
    deliverer.engine.capacityChanged(QUEUE);
    // Nobody knows yet that anything was forgotten.
    first.done().join();
    (acceptorFirst ? acceptor : deliverer).open();
    (acceptorFirst ? acceptor : deliverer).awaitLoss();
    (acceptorFirst ? deliverer : acceptor).open();
    (acceptorFirst ? deliverer : acceptor).awaitLoss();
    eventually().until(() -> state(deliverer.engine, "done") == JobState.FINISHED);
    eventually().until(() -> state(deliverer.engine, "later") == JobState.DELAYED);
    second.done().join();
    // What was not forgotten does not wait for what was.
    submit(deliverer.engine, "new", Duration.ZERO);
    Delivery next = worker.next();
    assertThat(next.taskId()).isEqualTo("new");
    next.done().join();

    Delivery last = worker.next();
    assertThat(last.taskId()).isEqualTo("notSent");
    last.done().join();
    eventually().until(() -> repeats.equals(Map.of(RepeatCause.PUT_BACK, 1)));
    for (String id : List.of("done", "underWay", "underWayToo", "notSent", "new")) {
      assertThat(state(acceptor.engine, id)).as(id).isEqualTo(JobState.FINISHED);
    }
    assertThat(worker.seen).doesNotHaveDuplicates().hasSize(5);
  }

  private static JobState state(Engine engine, String taskId) {
    return engine.find(QUEUE, taskId).map(JobView::state).orElse(JobState.DEAD);
  }

  @Test
  void underLoadNothingRunsTwiceAndEverythingRuns() throws Exception {
    Queue<String> runs = new ConcurrentLinkedQueue<>();
    Side acceptor = new Side("acceptor", nobody());
    Side deliverer =
        new Side(
            "deliverer",
            new TestDispatcher(
                delivery -> {
                  runs.add(delivery.taskId());
                  var unused = delivery.done();
                }));
    int sent = 0;
    while (runs.size() < 200) {
      submit(acceptor.engine, "j" + sent++, Duration.ofMillis(20));
    }
    Resp.call(server.port(), "FLUSHALL");
    while (deliverer.engine.storeHealth().losses().isEmpty()
        || acceptor.engine.storeHealth().losses().isEmpty()) {
      submit(acceptor.engine, "j" + sent++, Duration.ofMillis(20));
    }

    int all = sent;
    eventually().until(() -> runs.stream().distinct().count() == all);
    eventually().until(() -> deliverer.engine.stats(QUEUE).orElseThrow().delayed() == 0);
    assertThat(runs).doesNotHaveDuplicates();
  }
}
