package io.punctual.benchmark.contender;

import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.benchmark.contest.Contender;
import io.punctual.core.engine.Engine;
import io.punctual.core.queue.QueueName;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** An application with the plugin starter: everything but Redis in this process. */
final class PunctualPlugin implements Contender {

  private static final String APPLICATION = "bench-plugin";

  private final Surroundings surroundings;
  private @Nullable ConfigurableApplicationContext context;
  private @Nullable TaskSubmitService jobs;

  PunctualPlugin(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public String description() {
    return "the plugin starter in one application";
  }

  @Override
  public void open(Consumer<String> handler) {
    ConfigurableApplicationContext started =
        new SpringApplicationBuilder(BareApplication.class)
            .web(WebApplicationType.NONE)
            .initializers(
                beans ->
                    ((GenericApplicationContext) beans)
                        .registerBean(
                            TaskWorker.class,
                            () -> new StarterApplication.Worker(PunctualService.TYPE, handler)))
            .run(
                "--spring.application.name=" + APPLICATION,
                "--punctual.client.enabled=false",
                "--eureka.client.enabled=false",
                "--spring.threads.virtual.enabled=true",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                "--punctual.plugin.concurrency=500",
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + surroundings.redisPort());
    context = started;
    jobs = started.getBean(TaskSubmitService.class);
  }

  @Override
  public void submit(Job job) {
    SubmitResult unused = jobs().send(PunctualService.job(job));
  }

  @Override
  public String bulkCall() {
    return "sendAll(500)";
  }

  @Override
  public void bulk(List<Job> some) {
    PunctualService.submitAll(jobs(), some);
  }

  @Override
  public long pending() {
    if (context == null) {
      throw new IllegalStateException("not open");
    }
    return context
        .getBean(Engine.class)
        .stats(new QueueName(APPLICATION, PunctualService.TYPE))
        .map(stats -> stats.delayed() + stats.reserved())
        .orElse(0L);
  }

  @Override
  public long storeBytes() throws Exception {
    return surroundings.redisMemory();
  }

  private TaskSubmitService jobs() {
    if (jobs == null) {
      throw new IllegalStateException("not open");
    }
    return jobs;
  }

  @Override
  public void close() {
    if (context != null) {
      context.close();
    }
  }
}
