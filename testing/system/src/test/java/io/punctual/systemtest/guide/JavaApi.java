package io.punctual.systemtest.guide;

import io.punctual.CancelResult;
import io.punctual.DelayQueueJob;
import io.punctual.DelayedTask;
import io.punctual.RetryPolicy;
import io.punctual.SubmitResult;
import io.punctual.TaskContext;
import io.punctual.TaskHeader;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.client.PunctualClient;
import io.punctual.client.Workers;
import io.punctual.spi.JobListener;
import java.time.Duration;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;

/** The code of the page on the Java API. */
class JavaApi {

  record Order(String id) {}

  record Export(String type) implements TaskWorker {

    @Override
    public void invoke(String params) {
      System.out.println("exporting " + params);
    }
  }

  boolean submit(TaskSubmitService tasks, Order order) {
    SubmitResult sent = tasks.send("order.close", order, Duration.ofMinutes(30));
    CancelResult result = tasks.cancel("order.close", sent.taskId());
    boolean cancelled = result.outcome() == CancelResult.Outcome.CANCELLED;
    return cancelled;
  }

  void describe(TaskSubmitService tasks, Order order) {
    tasks.job("order.close", order).id(order.id()).in(Duration.ofMinutes(30)).tag("web").send();
    tasks.schedule("report.daily").cron("0 9 * * MON-FRI", ZoneId.of("Europe/Berlin")).put();
  }

  @DelayedTask(type = "order.close", concurrency = "20", timeToRun = "30s", retry = "3s,10s")
  void close(Order order, TaskContext context, @TaskHeader("source") @Nullable String source) {
    if (context.lateness().compareTo(Duration.ofHours(1)) > 0) {
      throw context.reject("an hour too late");
    }
    System.out.println("closing " + order.id() + " for " + source);
  }

  boolean change(Workers workers) {
    boolean added = workers.add(new Export("export.acme"));
    boolean removed = workers.remove("export.acme");
    return added && removed;
  }

  void plain() {
    try (PunctualClient client = PunctualClient.of("shop").worker(new Export("export")).build()) {
      client.pull();
      client.scheduler().submit(DelayQueueJob.of("export").delay(Duration.ZERO).build());
    }
  }

  DelayQueueJob job() {
    DelayQueueJob job =
        DelayQueueJob.of("mail.send").params("hello").delay(Duration.ofMinutes(5)).build();
    return job;
  }

  RetryPolicy policy() {
    RetryPolicy policy = RetryPolicy.parse("exponential(2s,1h);attempts=5");
    return policy;
  }

  @Bean
  JobListener attempts() {
    return attempt -> System.out.println(attempt.taskId() + ": " + attempt.outcome());
  }
}
