package io.punctual.core.recur;

import io.punctual.DelayQueueJob;
import io.punctual.core.Submit;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.query.JobView;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The jobs of schedules, as the engine takes and knows them. */
public interface Jobs {

  /** Stores a job; see {@link io.punctual.core.Engine#submit}. */
  CompletableFuture<Submit> submit(String application, DelayQueueJob job, String submitter);

  /** Looks at a job; see {@link io.punctual.core.Engine#find}. */
  Optional<JobView> find(QueueName queue, String taskId);
}
