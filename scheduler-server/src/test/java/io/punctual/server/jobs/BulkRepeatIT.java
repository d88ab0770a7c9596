package io.punctual.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Engine;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.server.SharedRedisTestBase;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.history.History;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
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

  @Test
  void eachJobOfAPageThatIsRepeatedCountsOnce() {
    List<String> ids = List.of("a", "b", "c", "d", "e");
    for (String id : ids) {
      String job =
          "{\"application\":\"shop\",\"taskType\":\"repeat\",\"taskId\":\"%s\",\"delay\":\"1h\"}";
      assertThat(api.post("/api/v1/jobs", job.formatted(id)).status()).isEqualTo(201);
    }
    try (BulkOperations bulk =
        new BulkOperations(refusing(3), search, audit, history, InstantSource.system())) {
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
