package io.punctual.systemtest.guide;

import io.punctual.TaskWorker;
import io.punctual.client.Workers;

/** Has a worker for each partner, while the application runs. */
class Partners {

  private final Workers workers;

  Partners(Workers workers) {
    this.workers = workers;
  }

  void open(TaskWorker exports) {
    boolean added = workers.add(exports);
    assert added : "punctual.workers switches it off";
  }

  void close(String partner) {
    workers.remove("export." + partner);
  }
}
