package io.punctual.server.api;

import io.punctual.ErrorCode;
import io.punctual.core.Engine;
import io.punctual.core.JobView;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.server.web.ApiException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Finds a job by its id among the queues of an application, for callers that do not name the queue.
 * No index is kept for that: most applications have few task types, and every job would pay for it.
 */
@Component
class JobLookup {

  /** Each costs a call to the store. */
  static final int MAX_QUEUES = 100;

  private final Engine engine;

  JobLookup(Engine engine) {
    this.engine = engine;
  }

  /**
   * The one job of that id.
   *
   * @param topic null looks in all queues of the application
   * @throws ApiException 400 if there are too many queues to look in; 404 if there is no such job;
   *     409 if there are several, naming the topics
   */
  JobView find(String application, @Nullable String topic, String id) {
    if (topic != null) {
      QueueName queue = new QueueName(application, topic);
      return engine.find(queue, id).orElseThrow(() -> JobAnswers.unknown(queue, id));
    }
    String own = new QueueName(application, "x").application();
    List<QueueName> queues =
        engine.queues().keySet().stream().filter(name -> name.application().equals(own)).toList();
    if (queues.size() > MAX_QUEUES) {
      throw ApiException.invalid(
          "topic",
          "is missing: "
              + application
              + " has "
              + queues.size()
              + " topics, and a job is looked for in at most "
              + MAX_QUEUES);
    }
    List<JobView> found = new ArrayList<>();
    for (QueueName queue : queues) {
      engine.find(queue, id).ifPresent(found::add);
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
