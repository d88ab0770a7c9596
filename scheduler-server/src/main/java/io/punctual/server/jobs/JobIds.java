package io.punctual.server.jobs;

import io.punctual.core.job.QueueName;
import java.util.List;

/** Jobs of one queue by their ids. */
public record JobIds(QueueName queue, List<String> ids) implements JobSelection {

  /** Copies the list. */
  public JobIds {
    ids = List.copyOf(ids);
  }

  /** Returns the names of the jobs. */
  List<JobRef> refs() {
    return ids.stream().map(id -> new JobRef(queue, id)).toList();
  }

  @Override
  public String toString() {
    return queue + " " + ids;
  }
}
