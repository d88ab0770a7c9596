package io.punctual.server.api;

import io.punctual.ErrorCode;
import io.punctual.core.engine.Engine;
import io.punctual.core.engine.JobView;
import io.punctual.core.job.JobState;
import io.punctual.core.queue.QueueName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Finds a job by its id among the queues of an application, for callers who do not say in which. No
 * index is kept for that: an application has few task types, and every job would pay for it.
 */
@Component
class JobLookup {

  private final Engine engine;

  JobLookup(Engine engine) {
    this.engine = engine;
  }

  /**
   * The one job of that id.
   *
   * @param topic null looks in all queues of the application
   * @throws ApiException 404 if there is none; 409 if there are several, naming the topics
   */
  JobView find(String application, @Nullable String topic, String id) {
    if (topic != null) {
      QueueName queue = new QueueName(application, topic);
      return engine.find(queue, id).orElseThrow(() -> JobAnswers.unknown(queue, id));
    }
    String own = new QueueName(application, "x").application();
    List<JobView> found = new ArrayList<>();
    for (QueueName queue : engine.queues().keySet()) {
      if (queue.application().equals(own)) {
        engine.find(queue, id).ifPresent(found::add);
      }
    }
    List<JobView> alive = found.stream().filter(job -> !isOver(job)).toList();
    List<JobView> candidates = alive.isEmpty() ? found : alive;
    if (candidates.isEmpty()) {
      throw ApiException.of(
          ErrorCode.NOT_FOUND,
          "no job " + id + " is known in " + application + "; it never was, or is long gone");
    } else if (candidates.size() > 1) {
      List<String> topics = candidates.stream().map(job -> job.queue().taskType()).toList();
      throw ApiException.of(
          ErrorCode.CONFLICT,
          "several jobs have the id "
              + id
              + ", one in each of these topics: "
              + String.join(", ", topics)
              + ". Name the topic",
          Map.of("topics", topics));
    }
    return candidates.get(0);
  }

  private static boolean isOver(JobView job) {
    return job.state() == JobState.FINISHED || job.state() == JobState.CANCELLED;
  }
}
