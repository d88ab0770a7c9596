package io.punctual.client;

import io.punctual.TaskWorker;
import io.punctual.internal.TaskWorkers;
import io.punctual.wire.WorkerMetadata;
import java.util.Set;

/**
 * Adds and removes workers while an application runs. Schedulers know a change within seconds: a
 * pushed instance updates its registration, and one that pulls asks for its task types as they are
 * now. Changes are those of this instance only, and are gone after a restart.
 */
public final class Workers {

  private final TaskWorkers workers;

  /**
   * @param workers which the other parts of the client read
   */
  public Workers(TaskWorkers workers) {
    this.workers = workers;
  }

  /**
   * Adds a worker. Jobs of its task type may arrive before this returns.
   *
   * @return false if the type is switched off in this instance ({@code
   *     punctual.workers."[type]".enabled=false}): nothing was changed
   * @throws io.punctual.internal.WorkerSetupException if its type is no valid name, or another
   *     worker has it
   * @throws IllegalStateException if there are {@value WorkerMetadata#MAX_TASK_TYPES} task types
   *     already
   */
  public synchronized boolean add(TaskWorker worker) {
    if (worker.type() != null && workers.isOff(worker.type())) {
      return false;
    }
    if (workers.types().size() >= WorkerMetadata.MAX_TASK_TYPES) {
      throw new IllegalStateException(
          "An instance runs at most %d task types, and this one has them. The worker for '%s' was not added. Remove another one first."
              .formatted(WorkerMetadata.MAX_TASK_TYPES, worker.type()));
    }
    workers.add("a worker that was added later", worker);
    return true;
  }

  /**
   * Removes the worker of a task type. Its jobs that run go on. Those that come afterwards are
   * refused, lose no attempt, and wait for instances that know the type.
   *
   * @return false if there is no such worker
   */
  public synchronized boolean remove(String taskType) {
    return workers.remove(taskType);
  }

  /** Returns all task types that this instance runs, in ascending order. */
  public Set<String> types() {
    return workers.types();
  }
}
