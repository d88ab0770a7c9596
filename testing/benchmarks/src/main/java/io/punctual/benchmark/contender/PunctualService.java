package io.punctual.benchmark.contender;

import io.punctual.DelayQueueJob;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import io.punctual.systemtest.Http;
import io.punctual.systemtest.Waiting;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;

/** An application with the client starter; scheduler, registry and Redis are other processes. */
public final class PunctualService extends SpringContender {

  private static final String WARM_UP = "warm-up";

  private final boolean single;
  private final String application;
  private final @Nullable SinglePosts posts;
  private @Nullable ConfigurableApplicationContext controller;

  /**
   * @param single whether it is called with one job a POST, as an application without the starter
   * @param queues that the jobs are spread over
   */
  public PunctualService(Surroundings surroundings, boolean single, int queues) {
    super(
        surroundings,
        queues == 1
            ? List.of(TYPE)
            : IntStream.range(0, queues).mapToObj(queue -> TYPE + queue).toList());
    this.single = single;
    this.application = single ? "bench-single" : "bench";
    this.posts =
        single
            ? new SinglePosts(surroundings.schedulers(), "/api/v1/jobs", application, types(), 201)
            : null;
  }

  @Override
  public String description() {
    return single
        ? "one scheduler, a POST a job, a worker that is a plain controller"
        : "one scheduler, a worker application with the starter";
  }

  @Override
  public void open(Consumer<String> handler) throws Exception {
    CountDownLatch warm = new CountDownLatch(types().size());
    Consumer<String> worker =
        payload -> {
          if (payload.equals(WARM_UP)) {
            warm.countDown();
          } else {
            handler.accept(payload);
          }
        };
    if (single) {
      controller =
          StarterApplication.start(
              SingleApplication.class,
              beans ->
                  beans.registerBean(
                      SingleApplication.Callback.class,
                      () -> new SingleApplication.Callback(worker)),
              surroundings(),
              application,
              "--punctual.enabled=false",
              "--eureka.instance.metadata-map[punctual.task-types]=" + String.join(",", types()),
              "--eureka.instance.metadata-map[punctual.protocol]=single",
              "--eureka.instance.metadata-map[punctual.callback-path]=/single",
              "--eureka.instance.metadata-map[punctual.concurrency]=100");
    }
    // Next to a controller it only submits.
    ConfigurableApplicationContext started =
        StarterApplication.start(
            surroundings(),
            application,
            single ? List.of() : types(),
            worker,
            "--eureka.client.enabled=" + !single);
    opened(started);
    for (String type : types()) {
      SubmitResult unused =
          started
              .getBean(TaskSubmitService.class)
              .send(DelayQueueJob.of(type).params(WARM_UP).dueAt(Instant.now()).build());
    }
    Waiting.until("the scheduler has found the worker", () -> warm.getCount() == 0);
    Waiting.until("the warm-up jobs are done", () -> pending() == 0);
  }

  @Override
  public void submit(Job job) throws Exception {
    if (posts == null) {
      super.submit(job);
    } else {
      posts.submit(job);
    }
  }

  @Override
  public long pending() throws Exception {
    String scheduler = surroundings().schedulers().split(",", -1)[0];
    long pending = 0;
    for (String type : types()) {
      JsonNode queue = Http.get(scheduler + "/api/v1/queues/" + application + "/" + type).json();
      pending += queue.get("delayed").longValue() + queue.get("reserved").longValue();
    }
    return pending;
  }

  @Override
  public void close() {
    super.close();
    if (controller != null) {
      controller.close();
    }
  }
}
