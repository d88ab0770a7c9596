package io.punctual.quickstart;

import io.punctual.redis.RedisServer;
import io.punctual.server.PunctualServerApplication;
import java.nio.file.Path;
import org.springframework.boot.SpringApplication;

/**
 * Starts Redis on 127.0.0.1, then the scheduler on it.
 *
 * <p>System properties: {@code quickstart.redis.port} (default 6380) and {@code
 * quickstart.redis.directory} (default .quickstart/redis), where the data stays between starts.
 */
public final class QuickstartApplication {

  private QuickstartApplication() {}

  public static void main(String[] args) {
    int port = Integer.getInteger("quickstart.redis.port", 6380);
    Path directory =
        Path.of(System.getProperty("quickstart.redis.directory", ".quickstart/redis"))
            .toAbsolutePath();
    RedisServer redis =
        RedisServer.start(
            port,
            directory,
            "--appendonly",
            "yes",
            "--save",
            "",
            "--maxmemory-policy",
            "noeviction");
    System.out.println(
        "Redis for the quickstart, not for production: "
            + redis.description()
            + ", 127.0.0.1:"
            + port
            + ", data in "
            + directory);
    System.setProperty("spring.data.redis.host", "127.0.0.1");
    System.setProperty("spring.data.redis.port", Integer.toString(port));
    SpringApplication application = new SpringApplication(PunctualServerApplication.class);
    application.setAdditionalProfiles("quickstart");
    // The scheduler needs it until its own end.
    redis.endsWhenClosed();
    SpringApplication.getShutdownHandlers().add(redis::close);
    application.run(args);
  }
}
