package io.punctual.benchmark.contender;

import io.punctual.BatchItem;
import io.punctual.DelayQueueJob;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import io.punctual.benchmark.contest.Contender;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ConfigurableApplicationContext;

/** Punctual in an application of this process: what is the same with either starter. */
abstract class SpringContender implements Contender {

  static final String TYPE = "job";

  /** As in an application without actuator; here the scheduler's class path brings it. */
  static final String UNOBSERVED = "--management.observations.enable.punctual.client=false";

  private final Surroundings surroundings;
  private final List<String> types;
  private @Nullable ConfigurableApplicationContext context;

  /**
   * @param types which the jobs are spread over
   */
  SpringContender(Surroundings surroundings, List<String> types) {
    this.surroundings = surroundings;
    this.types = List.copyOf(types);
  }

  final List<String> types() {
    return types;
  }

  final Surroundings surroundings() {
    return surroundings;
  }

  final void opened(ConfigurableApplicationContext started) {
    context = started;
  }

  final <T> T bean(Class<T> type) {
    if (context == null) {
      throw new IllegalStateException("not open");
    }
    return context.getBean(type);
  }

  @Override
  public void submit(Job job) throws Exception {
    SubmitResult unused = bean(TaskSubmitService.class).send(job(job));
  }

  @Override
  public String bulkCall() {
    return "sendAll(500)";
  }

  @Override
  public void bulk(List<Job> some) {
    List<DelayQueueJob> jobs = some.stream().map(this::job).toList();
    for (BatchItem item : bean(TaskSubmitService.class).sendAll(jobs)) {
      SubmitResult unused = item.orThrow();
    }
  }

  private DelayQueueJob job(Job job) {
    return DelayQueueJob.of(job.anyOf(types))
        .taskId(job.id())
        .params(job.payload())
        .delayTime(job.due())
        .build();
  }

  @Override
  public void clear() {
    surroundings.removeQueues();
  }

  @Override
  public long storeBytes() {
    return surroundings.redisMemory();
  }

  @Override
  public void close() {
    if (context != null) {
      context.close();
    }
  }
}
