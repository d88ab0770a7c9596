package io.punctual.spring.outbox;

import io.punctual.spring.jdbc.Database;
import io.punctual.spring.jdbc.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class KeptClaimTest {

  @Test
  void anErrorDoesNotEndTheExtending() {
    AtomicInteger extended = new AtomicInteger();
    Statements statements =
        new Statements(
            TestDatabase.H2.create(),
            sql -> {
              if (sql.startsWith("update") && extended.incrementAndGet() == 1) {
                throw new OutOfMemoryError("a test's");
              }
            });
    OutboxTable table = new OutboxTable(Database.of(statements, "a test"), "shop");
    ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
    try {
      // In another thread, which a lost claim interrupts.
      KeptClaim claim =
          CompletableFuture.supplyAsync(
                  () ->
                      new KeptClaim(
                          table,
                          List.of(1L),
                          "claim",
                          Duration.ofMillis(300),
                          System.nanoTime(),
                          timer),
                  task -> new Thread(task).start())
              .join();
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> extended.get() >= 2);
      claim.end();
    } finally {
      timer.shutdownNow();
    }
  }
}
