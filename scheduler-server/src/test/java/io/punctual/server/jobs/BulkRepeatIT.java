package io.punctual.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Engine;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.server.SharedRedisTestBase;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.history.History;
import io.punctual.server.operation.OperationLog;
import io.punctual.server.operation.OperationRecord;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** An operation goes on after a page that failed, and does that page again. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
@Tag("full")
class BulkRepeatIT extends SharedRedisTestBase {

  private static final QueueName QUEUE = new QueueName("shop", "repeat");

  @Autowired private Engine engine;
  @Autowired private JobSearch search;
  @Autowired private AuditLog audit;
  @Autowired private History history;
  @Autowired private OperationLog records;

  /** The engine, whose store refuses one call. */
  private Engine refusing(int find) {
    AtomicInteger finds = new AtomicInteger();
    return (Engine)
        Proxy.newProxyInstance(
            Engine.class.getClassLoader(),
            new Class<?>[] {Engine.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("find") && finds.incrementAndGet() == find) {
                throw new StoreException(StoreException.Kind.REFUSED, "of the test");
              }
              try {
                return method.invoke(engine, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static void run(BulkOperations bulk, BulkOperation operation) {
    bulk.begin(operation, 0);
    Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> operation.getProgress().over());
  }

  private BulkOperations scheduler(String name) {
    return new BulkOperations(
        engine, search, audit, records, history, name, InstantSource.system());
  }

  private OperationRecord there(String id) {
    return Objects.requireNonNull(records.find(id));
  }

  @Test
  void everySchedulerSeesAndStopsAnOperationAndOneThatEndsInterruptsIts() {
    List<String> ids = IntStream.range(0, 100).mapToObj(i -> "o" + i).toList();
    for (String id : ids) {
      String job =
          "{\"application\":\"shop\",\"taskType\":\"repeat\",\"taskId\":\"%s\",\"delay\":\"1h\"}";
      assertThat(api.post("/api/v1/jobs", job.formatted(id)).status()).isEqualTo(201);
    }
    try (BulkOperations first = scheduler("first");
        BulkOperations second = scheduler("second")) {
      first.start();
      BulkOperation operation =
          first.keep(
              BulkOperation.Action.CANCEL, List.of(new JobIds(QUEUE, ids)), null, List.of(), "");
      String id = operation.getId();
      assertThat(operation.preview().matched()).isEqualTo(100);
      first.begin(operation, 1);
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> second.told(id).matched() >= 1);
      assertThat(second.told(id))
          .satisfies(told -> assertThat(told.state()).isEqualTo("running"))
          .satisfies(told -> assertThat(told.total()).isEqualTo(100))
          .satisfies(told -> assertThat(told.scheduler()).isEqualTo("first"));
      assertThat(second.begun().all()).extracting(OperationRecord::id).contains(id);

      second.stop(id);
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> there(id).state().equals("stopped"));

      // What was asked for before it goes on does not stop it.
      first.begin(operation, 1);
      int dealt = there(id).matched();
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> there(id).matched() > dealt + 1);
      first.stop();
      assertThat(there(id).state()).isEqualTo("interrupted");
      assertThat(there(id).matched()).isBetween(dealt + 2, 99);
      assertThat(records.isAskedToStop(id)).isFalse();
    }
  }

  @Test
  void theLastTwoHundredOperationsAreKept() {
    OperationRecord one =
        new OperationRecord(
            "",
            "cancel",
            "",
            List.of("x".repeat(8_000)),
            List.of("y".repeat(400)),
            0,
            "",
            "ada",
            "here",
            0,
            "2026-01-01T00:00:00Z",
            null,
            "done",
            null,
            false,
            Map.of(),
            "e".repeat(600),
            null,
            0);
    assertThat(one.searches()).hasSize(1);
    assertThat(one.checked()).isEmpty();
    assertThat(one.unnamed()).isEqualTo(1);
    assertThat(one.error()).hasSize(500);
    for (int i = 0; i < 205; i++) {
      records.begin(
          new OperationRecord(
              "n" + i,
              "cancel",
              "",
              List.of(),
              List.of(),
              0,
              "",
              "ada",
              "here",
              0,
              Instant.parse("2020-01-01T00:00:00Z").plusSeconds(i).toString(),
              null,
              "done",
              null,
              false,
              Map.of(),
              null,
              null,
              0));
    }
    assertThat(records.all()).hasSize(200);
    assertThat(records.find("n204")).isNotNull();
    assertThat(records.find("n4")).isNull();
  }

  @Test
  void eachJobOfAPageThatIsRepeatedCountsOnce() {
    List<String> ids = List.of("a", "b", "c", "d", "e");
    for (String id : ids) {
      String job =
          "{\"application\":\"shop\",\"taskType\":\"repeat\",\"taskId\":\"%s\",\"delay\":\"1h\"}";
      assertThat(api.post("/api/v1/jobs", job.formatted(id)).status()).isEqualTo(201);
    }
    try (BulkOperations bulk =
        new BulkOperations(
            refusing(3), search, audit, records, history, "here", InstantSource.system())) {
      BulkOperation operation =
          bulk.keep(
              BulkOperation.Action.CANCEL, List.of(new JobIds(QUEUE, ids)), null, List.of(), "");

      run(bulk, operation);
      assertThat(operation.getProgress().state()).isEqualTo(BulkOperation.State.FAILED);
      assertThat(operation.getProgress().outcomes())
          .isEqualTo(Map.of("cancelled", 2, "refused", 1));

      run(bulk, operation);
      assertThat(operation.getProgress().state()).isEqualTo(BulkOperation.State.DONE);
      assertThat(operation.getProgress().outcomes()).isEqualTo(Map.of("cancelled", 5));
    }
  }
}
