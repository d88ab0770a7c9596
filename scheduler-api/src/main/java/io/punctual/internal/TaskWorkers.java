package io.punctual.internal;

import io.punctual.TaskWorker;
import io.punctual.wire.Limits;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The workers of this application, by task type. */
public final class TaskWorkers {

  private record Named(String name, TaskWorker worker) {}

  private final Map<String, Named> byType = new ConcurrentHashMap<>();
  private final Set<String> off = ConcurrentHashMap.newKeySet();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile UnaryOperator<TaskWorker> wrapper = UnaryOperator.identity();

  /**
   * Collects the workers.
   *
   * @param beans by bean name
   * @throws WorkerSetupException if a type is taken twice or is no valid name
   */
  public TaskWorkers(Map<String, TaskWorker> beans) {
    beans.forEach((name, worker) -> add("bean '" + name + "'", worker));
  }

  /**
   * Adds a worker.
   *
   * @param name what messages call it
   * @throws WorkerSetupException if its type is taken or is no valid name
   */
  public void add(String name, TaskWorker worker) {
    String type = worker.type();
    if (type == null || !Limits.isName(type)) {
      throw new WorkerSetupException(
          "The task type '%s' of %s (%s) is not valid."
              .formatted(type, name, worker.clazz().getName()),
          "What type() returns, or @DelayedTask names, " + Limits.NAME_RULE + ".");
    }
    Named other = byType.putIfAbsent(type, new Named(name, worker));
    if (other != null) {
      throw new WorkerSetupException(
          "The task type '%s' is taken by two workers: %s (%s) and %s (%s)."
              .formatted(
                  type,
                  other.name(),
                  other.worker().clazz().getName(),
                  name,
                  worker.clazz().getName()),
          "Give one of them another type() or @DelayedTask, or remove it.");
    }
    listeners.forEach(Runnable::run);
  }

  /**
   * Adds a listener that is called after each change of the task types, on the thread that made the
   * change.
   */
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  /** Puts something before each worker, also before those that are added later. */
  public void wrap(UnaryOperator<TaskWorker> wrapper) {
    this.wrapper = wrapper;
  }

  /** Leaves a type to other instances; false if there is no such worker. */
  public boolean remove(String type) {
    boolean removed = byType.remove(type) != null;
    if (removed) {
      listeners.forEach(Runnable::run);
    }
    return removed;
  }

  /** Removes a type for as long as this process runs; false if there is no such worker. */
  public boolean switchOff(String type) {
    off.add(type);
    return remove(type);
  }

  /** Returns whether a type is switched off, so that no worker of it is to be added. */
  public boolean isOff(String type) {
    return off.contains(type);
  }

  /** The worker of a type, or null. */
  public @Nullable TaskWorker find(String type) {
    Named found = byType.get(type);
    return found == null ? null : wrapper.apply(found.worker());
  }

  /** All task types, in ascending order. */
  public Set<String> types() {
    return new TreeSet<>(byType.keySet());
  }
}
