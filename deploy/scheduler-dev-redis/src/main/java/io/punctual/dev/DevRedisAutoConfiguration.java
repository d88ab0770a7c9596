package io.punctual.dev;

import java.nio.file.Path;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * In the profile {@code dev}, a redis-server process that belongs to the application, and Spring's
 * connections to it. Not where the application says which Redis it wants.
 */
@AutoConfiguration(
    beforeName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@Profile("dev")
@ConditionalOnProperty(prefix = "punctual", name = "enabled", matchIfMissing = true)
@Conditional(DevRedisAutoConfiguration.NoOtherRedis.class)
@ConditionalOnMissingBean(DataRedisConnectionDetails.class)
public class DevRedisAutoConfiguration {

  @Bean(destroyMethod = "close")
  DevRedis punctualDevRedis(Environment environment) {
    String application = environment.getProperty("spring.application.name", "application");
    String name = "redis-" + application.replaceAll("[^A-Za-z0-9._-]", "_");
    return DevRedis.start(Path.of(".punctual", name).toAbsolutePath());
  }

  @Bean
  DataRedisConnectionDetails punctualDevRedisConnection(DevRedis redis) {
    return new DataRedisConnectionDetails() {
      @Override
      public Standalone getStandalone() {
        return Standalone.of("127.0.0.1", redis.port());
      }
    };
  }

  /** Nothing says where another Redis is. */
  static final class NoOtherRedis extends SpringBootCondition {

    private static final String[] PLACES = {
      "url", "host", "port", "sentinel.master", "cluster.nodes"
    };

    @Override
    public ConditionOutcome getMatchOutcome(
        ConditionContext context, AnnotatedTypeMetadata metadata) {
      for (String place : PLACES) {
        String property = "spring.data.redis." + place;
        if (context.getEnvironment().containsProperty(property)) {
          return ConditionOutcome.noMatch(
              ConditionMessage.of("%s says which Redis is wanted", property));
        }
      }
      return ConditionOutcome.match();
    }
  }
}
