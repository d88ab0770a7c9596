package io.punctual.benchmark.contender;

import io.punctual.TaskWorker;
import io.punctual.redis.Ports;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** Starts applications with the client starter in this process. */
public final class StarterApplication {

  /** Where throughput is measured; the default is meant for jobs that take their time. */
  private static final int CONCURRENCY = Integer.getInteger("bench.concurrency", 500);

  private StarterApplication() {}

  /** A worker that passes its params on. */
  record Worker(String type, Consumer<String> handler) implements TaskWorker {
    @Override
    public void invoke(String params) {
      handler.accept(params);
    }
  }

  /** Starts one with a worker for each of the types. */
  public static ConfigurableApplicationContext start(
      Surroundings surroundings,
      String application,
      List<String> types,
      Consumer<String> handler,
      String... options) {
    return start(
        BareApplication.class,
        beans -> {
          for (String type : types) {
            beans.registerBean("worker-" + type, TaskWorker.class, () -> new Worker(type, handler));
          }
        },
        surroundings,
        application,
        options);
  }

  static ConfigurableApplicationContext start(
      Class<?> main,
      Consumer<GenericApplicationContext> beans,
      Surroundings surroundings,
      String application,
      String... options) {
    int port = Ports.free();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--spring.application.name=" + application,
                // The plugin starter is there as well.
                "--spring.autoconfigure.exclude="
                    + "io.punctual.plugin.PunctualPluginRedisAutoConfiguration",
                SpringContender.UNOBSERVED,
                "--punctual.concurrency=" + CONCURRENCY,
                "--punctual.callback.accept-unsigned=true",
                "--punctual.eureka.fast=true",
                "--punctual.url=" + surroundings.schedulers(),
                "--spring.threads.virtual.enabled=true",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                "--server.address=127.0.0.1",
                "--server.port=" + port,
                "--eureka.instance.instance-id=" + application + ":" + port,
                "--eureka.instance.hostname=127.0.0.1",
                "--eureka.client.service-url.defaultZone=" + surroundings.registry() + "/eureka/"));
    arguments.addAll(List.of(options));
    return new SpringApplicationBuilder(main)
        .web(WebApplicationType.SERVLET)
        .initializers(context -> beans.accept((GenericApplicationContext) context))
        .run(arguments.toArray(String[]::new));
  }
}
