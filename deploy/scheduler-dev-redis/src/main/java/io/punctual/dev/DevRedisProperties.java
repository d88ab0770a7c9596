package io.punctual.dev;

import java.nio.file.Path;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The Redis of the profile {@code dev}.
 *
 * @param enabled whether it is started in that profile
 * @param directory where its data stays between starts; of one running application at a time
 * @param port where it listens on 127.0.0.1; 0 for any port that is free
 */
@ConfigurationProperties("punctual.dev.redis")
public record DevRedisProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue(".punctual/redis") Path directory,
    @DefaultValue("0") int port) {

  /** Checks the values. */
  public DevRedisProperties {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException(
          "punctual.dev.redis.port must be between 0 and 65535, but is " + port);
    }
  }
}
