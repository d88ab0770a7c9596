package io.punctual.server.registry;

import org.springframework.core.env.Environment;

/** The name of this scheduler: the host under which it is registered, or runs, and its port. */
public final class SchedulerName {

  private static final int MAX = 80;

  private SchedulerName() {}

  /** Returns the name that callbacks and leases carry, at most 80 characters. */
  public static String of(Environment environment) {
    String host =
        environment.getProperty(
            "eureka.instance.hostname",
            environment.getProperty("spring.cloud.client.hostname", "scheduler"));
    String port = environment.getProperty("server.port", "8080");
    String name = (host + ":" + port).replaceAll("[^A-Za-z0-9._:-]", "-");
    return name.substring(0, Math.min(name.length(), MAX));
  }
}
