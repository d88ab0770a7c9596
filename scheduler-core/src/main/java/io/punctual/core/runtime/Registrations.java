package io.punctual.core.runtime;

import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.core.work.Refusals;
import io.punctual.core.work.Threads;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
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
  private final Map<String, Map<QueueName, Deque<CompletableFuture<QueueWorkers>>>> waiting =
      new HashMap<>();
  // Those of all applications, for a look without a lock.
  private final Set<QueueName> open = ConcurrentHashMap.newKeySet();

  /**
   * @param register asks the store
   */
  Registrations(Function<QueueName, QueueWorkers> register, Threads threads) {
    this.register = register;
    this.threads = threads;
  }

  /** Registers a queue. Never blocks. Callers are answered in the order in which they came. */
  CompletableFuture<QueueWorkers> add(QueueName queue) {
    CompletableFuture<QueueWorkers> answer = new CompletableFuture<>();
    boolean first;
    synchronized (this) {
      Map<QueueName, Deque<CompletableFuture<QueueWorkers>>> others =
          waiting.computeIfAbsent(queue.application(), name -> new LinkedHashMap<>());
      first = others.isEmpty();
      others.computeIfAbsent(queue, name -> new ArrayDeque<>()).add(answer);
      open.add(queue);
    }
    if (first) {
      threads.run(() -> work(queue));
    }
    return answer;
  }

  /** Whether some who asked for a queue have no answer yet: others must come after them. */
  boolean isOpen(QueueName queue) {
    return !open.isEmpty() && open.contains(queue);
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
      return end(queue, answer -> answer.complete(workers));
    } catch (StoreException e) {
      if (e.kind() == StoreException.Kind.UNREACHABLE) {
        failAll(queue, e);
        return null;
      }
      return end(queue, answer -> answer.completeExceptionally(e));
    } catch (RuntimeException | Error e) {
      return end(queue, answer -> answer.completeExceptionally(e));
    }
  }

  /** Answers all that asked for a queue; returns the next one of the application, or null. */
  private @Nullable QueueName end(
      QueueName queue, Consumer<CompletableFuture<QueueWorkers>> answer) {
    while (true) {
      CompletableFuture<QueueWorkers> next;
      synchronized (this) {
        Map<QueueName, Deque<CompletableFuture<QueueWorkers>>> all =
            Objects.requireNonNull(waiting.get(queue.application()));
        next = Objects.requireNonNull(all.get(queue)).poll();
        if (next == null) {
          all.remove(queue);
          open.remove(queue);
          if (all.isEmpty()) {
            waiting.remove(queue.application());
            return null;
          }
          return all.keySet().iterator().next();
        }
      }
      answer.accept(next);
    }
  }

  /** Each of those that wait would wait as long, one after the other. */
  private void failAll(QueueName queue, StoreException e) {
    Map<QueueName, Deque<CompletableFuture<QueueWorkers>>> all;
    synchronized (this) {
      all = Objects.requireNonNull(waiting.remove(queue.application()));
      open.removeAll(all.keySet());
    }
    all.forEach(
        (name, answers) ->
            answers.forEach(
                answer ->
                    answer.completeExceptionally(name.equals(queue) ? e : Refusals.behind())));
  }
}
