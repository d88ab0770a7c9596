package io.punctual.plugin;

import io.punctual.core.store.Store;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.spring.plugin.PunctualPluginAutoConfiguration;
import io.punctual.spring.plugin.PunctualPluginObservationAutoConfiguration;
import io.punctual.spring.plugin.PunctualPluginProperties;
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
    before = {
      PunctualPluginAutoConfiguration.class,
      PunctualPluginObservationAutoConfiguration.class
    },
    afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnProperty(prefix = "punctual.plugin", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(PunctualPluginProperties.class)
public class PunctualPluginRedisAutoConfiguration {

  @Bean(destroyMethod = "close")
  PluginRedis punctualRedis(
      RedisConnectionFactory application, ObjectProvider<DataRedisConnectionDetails> details) {
    DataRedisConnectionDetails known = details.getIfUnique();
    return PluginRedis.of(application, new Tls(known == null ? null : known.getSslBundle()));
  }

  @Bean
  @ConditionalOnMissingBean
  Store punctualStore(PluginRedis redis, PunctualPluginProperties properties) {
    return RedisStore.connect(redis.connections(), properties.storeOptions());
  }
}
