package io.punctual.dev;

import java.nio.file.Path;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The Redis of the profile {@code dev}.
 *
 * @param directory where its data stays between starts; of one running application at a time
 */
@ConfigurationProperties("punctual.dev.redis")
public record DevRedisProperties(@DefaultValue(".punctual/redis") Path directory) {}
