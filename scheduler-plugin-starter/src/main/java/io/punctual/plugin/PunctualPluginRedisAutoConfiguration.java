package io.punctual.plugin;

import io.punctual.core.store.Store;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.spring.plugin.PunctualPluginAutoConfiguration;
import java.time.Duration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** The store of plugin mode, in the application's own Redis: where it is, the engine runs jobs. */
@AutoConfiguration(
    before = PunctualPluginAutoConfiguration.class,
    afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnProperty(prefix = "punctual", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(PunctualProperties.class)
public class PunctualPluginRedisAutoConfiguration {

  @Bean(destroyMethod = "close")
  PluginRedis punctualRedis(
      RedisConnectionFactory application, ObjectProvider<DataRedisConnectionDetails> details) {
    DataRedisConnectionDetails known = details.getIfUnique();
    return PluginRedis.of(application, new Tls(known == null ? null : known.getSslBundle()));
  }

  @Bean
  @ConditionalOnMissingBean
  Store punctualStore(PluginRedis redis, PunctualProperties properties) {
    return RedisStore.connect(
        redis.connections(),
        new StoreOptions(
            properties.keyPrefix(),
            StoreOptions.DEFAULTS.tombstones(),
            durability(properties.durability(), RedisStore.patience(redis.connections()))));
  }

  private static Durability durability(String text, Duration patience) {
    try {
      return Durability.parse(text, patience);
    } catch (IllegalArgumentException e) {
      // Without its cause: of a chain, Spring Boot shows the innermost message alone.
      throw new IllegalArgumentException("punctual.durability: " + e.getMessage());
    }
  }
}
