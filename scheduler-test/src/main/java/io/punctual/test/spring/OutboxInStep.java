package io.punctual.test.spring;

import io.punctual.spring.outbox.Outbox;
import io.punctual.spring.outbox.OutboxRelay;
import io.punctual.test.PendingCalls;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/**
 * The application's outbox, relayed in step with the test: before a commit returns, and whenever
 * the clock is moved, but never by itself.
 */
final class OutboxInStep implements PendingCalls {

  private static final Logger log = LoggerFactory.getLogger(OutboxInStep.class);

  private final Outbox outbox;
  private final OutboxRelay relay;
  // Spares the database a question before each attempt.
  private volatile boolean waiting;

  /**
   * @param relay that was not started
   */
  OutboxInStep(Outbox outbox, OutboxRelay relay) {
    this.outbox = outbox;
    this.relay = relay;
    outbox.onCommit(this::committed);
  }

  private void committed() {
    waiting = true;
    try {
      make();
    } catch (RuntimeException e) {
      // It has committed; who moves the clock is told.
      log.warn("Punctual: {}", e.getMessage(), e);
    }
  }

  @Override
  public void make() {
    if (waiting) {
      apart(
          () -> {
            relay.relay();
            waiting = outbox.status().waiting() > 0;
          });
    }
  }

  @Override
  public void forget() {
    waiting = false;
    apart(outbox::clear);
  }

  // The calling thread may be in a transaction, or just behind its commit: what is bound to it is
  // none of the relay's.
  private static void apart(Runnable work) {
    FutureTask<@Nullable Void> task = new FutureTask<>(work, null);
    Thread thread = new Thread(task, "punctual-test-outbox");
    thread.setDaemon(true);
    thread.start();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          task.get();
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      throw failed(e.getCause());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static RuntimeException failed(@Nullable Throwable cause) {
    if (cause instanceof DataAccessException) {
      return new IllegalStateException(
          "The outbox (table punctual_outbox) cannot be used in this test: %s. See that the table is there before the test begins: databases in memory get it by themselves, others with punctual.initialize-schema=always or by the application's own migrations"
              .formatted(cause.getMessage()),
          cause);
    } else if (cause instanceof Error error) {
      throw error;
    }
    return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
  }
}
