package io.punctual.core.runtime;

import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.core.work.Refusals;
import io.punctual.core.work.Threads;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Registers new queues: those of one application one after the other, those of several applications
 * at once. A burst of new queues must neither take all connections to the store nor pass the bound
 * on queues together. Callers that ask for the same queue share one call.
 */
final class Registrations {

  private final Function<QueueName, QueueWorkers> register;
  private final Threads threads;
  // By application, in the order in which they came; the first one is under way.
  private final Map<String, Map<QueueName, CompletableFuture<QueueWorkers>>> waiting =
      new HashMap<>();

  /**
   * @param register asks the store
   */
  Registrations(Function<QueueName, QueueWorkers> register, Threads threads) {
    this.register = register;
    this.threads = threads;
  }

  /** Registers a queue. Never blocks. */
  CompletableFuture<QueueWorkers> add(QueueName queue) {
    CompletableFuture<QueueWorkers> answer;
    boolean first;
    synchronized (this) {
      Map<QueueName, CompletableFuture<QueueWorkers>> others =
          waiting.computeIfAbsent(queue.application(), name -> new LinkedHashMap<>());
      first = others.isEmpty();
      answer = others.computeIfAbsent(queue, name -> new CompletableFuture<>());
    }
    if (first) {
      threads.run(() -> work(queue));
    }
    return answer;
  }

  private void work(QueueName first) {
    QueueName queue = first;
    while (queue != null) {
      queue = registerNext(queue);
    }
  }

  /** Registers one; returns the next one of the application, or null. */
  private @Nullable QueueName registerNext(QueueName queue) {
    try {
      QueueWorkers workers = register.apply(queue);
      Turn turn = endOf(queue);
      turn.answer().complete(workers);
      return turn.next();
    } catch (StoreException e) {
      if (e.kind() == StoreException.Kind.UNREACHABLE) {
        failAll(queue, e);
        return null;
      }
      return fail(queue, e);
    } catch (RuntimeException | Error e) {
      return fail(queue, e);
    }
  }

  private @Nullable QueueName fail(QueueName queue, Throwable e) {
    Turn turn = endOf(queue);
    turn.answer().completeExceptionally(e);
    return turn.next();
  }

  /** Each of those that wait would wait as long, one after the other. */
  private void failAll(QueueName queue, StoreException e) {
    Map<QueueName, CompletableFuture<QueueWorkers>> all;
    synchronized (this) {
      all = Objects.requireNonNull(waiting.remove(queue.application()));
    }
    all.forEach(
        (name, answer) -> answer.completeExceptionally(name.equals(queue) ? e : Refusals.behind()));
  }

  private synchronized Turn endOf(QueueName queue) {
    Map<QueueName, CompletableFuture<QueueWorkers>> all =
        Objects.requireNonNull(waiting.get(queue.application()));
    CompletableFuture<QueueWorkers> answer = Objects.requireNonNull(all.remove(queue));
    if (all.isEmpty()) {
      waiting.remove(queue.application());
      return new Turn(answer, null);
    }
    return new Turn(answer, all.keySet().iterator().next());
  }

  /** The end of one registration, and the one that follows. */
  private record Turn(CompletableFuture<QueueWorkers> answer, @Nullable QueueName next) {}
}
