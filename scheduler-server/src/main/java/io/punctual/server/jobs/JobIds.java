package io.punctual.server.jobs;

import io.punctual.core.job.QueueName;
import java.util.List;
import java.util.stream.Collectors;

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
  public String text() {
    return "app:"
        + queue.application()
        + " type:"
        + queue.taskType()
        + ids.stream().map(id -> " id:" + id).collect(Collectors.joining());
  }
}
