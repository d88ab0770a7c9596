package io.punctual.benchmark.contender;

import io.punctual.TaskWorker;
import io.punctual.core.Engine;
import io.punctual.core.job.QueueName;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** An application with the plugin starter: everything but Redis in this process. */
final class PunctualPlugin extends SpringContender {

  private static final String APPLICATION = "bench-plugin";

  PunctualPlugin(Surroundings surroundings) {
    super(surroundings, List.of(TYPE));
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
                            TaskWorker.class, () -> new StarterApplication.Worker(TYPE, handler)))
            .run(
                "--spring.application.name=" + APPLICATION,
                // The client starter is there as well.
                "--spring.autoconfigure.exclude="
                    + "io.punctual.spring.client.PunctualClientAutoConfiguration",
                UNOBSERVED,
                "--eureka.client.enabled=false",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                "--punctual.concurrency=500",
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + surroundings().redisPort());
    opened(started);
  }

  @Override
  public long pending() {
    return bean(Engine.class)
        .stats(new QueueName(APPLICATION, TYPE))
        .map(stats -> stats.delayed() + stats.reserved())
        .orElse(0L);
  }
}
