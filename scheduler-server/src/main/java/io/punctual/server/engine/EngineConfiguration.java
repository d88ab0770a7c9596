package io.punctual.server.engine;

import io.punctual.core.Engine;
import io.punctual.core.EngineListener;
import io.punctual.core.EngineOptions;
import io.punctual.core.runtime.Engines;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.instance.InstanceMarks;
import io.punctual.core.store.instance.RegisteredWorkers;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.registry.SchedulerName;
import java.util.UUID;
import javax.net.ssl.SSLParameters;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.data.redis.autoconfigure.JedisClientConfigurationBuilderCustomizer;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Makes the engine and its store. */
@Configuration(proxyBeanMethods = false)
class EngineConfiguration {

  /** Redis's certificate must be that of its host; Jedis by itself would take any trusted one. */
  @Bean
  JedisClientConfigurationBuilderCustomizer redisByItsName(
      DataRedisProperties redis, SslBundles bundles) {
    return builder -> {
      String url = redis.getUrl();
      if (redis.getSsl().isEnabled() || (url != null && url.startsWith("rediss:"))) {
        SSLParameters parameters = new SSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        String bundle = redis.getSsl().getBundle();
        if (bundle != null) {
          SslOptions options = bundles.getBundle(bundle).getOptions();
          if (options.getCiphers() != null) {
            parameters.setCipherSuites(options.getCiphers());
          }
          if (options.getEnabledProtocols() != null) {
            parameters.setProtocols(options.getEnabledProtocols());
          }
        }
        builder.useSsl().sslParameters(parameters);
      }
    };
  }

  @Bean
  StoreOptions storeOptions(RedisConnectionFactory connections, EngineProperties properties) {
    return properties.storeOptions(RedisStore.patience(connections));
  }

  @Bean
  Store store(
      RedisConnectionFactory connections,
      StoreOptions options,
      ObjectProvider<StoreCalls.Listener> listeners) {
    Store store = RedisStore.connect(connections, options);
    listeners.forEach(store.calls()::add);
    return store;
  }

  @Bean
  InstanceMarks instanceMarks(
      RedisConnectionFactory connections, StoreOptions options, Store store) {
    return RedisStore.instanceMarks(connections, options, store.calls());
  }

  @Bean
  RegisteredWorkers registeredWorkers(
      RedisConnectionFactory connections, StoreOptions options, Store store) {
    return RedisStore.registeredWorkers(connections, options, store.calls());
  }

  @Bean(destroyMethod = "close")
  Engine engine(
      Store store,
      HttpDispatcher dispatcher,
      EngineProperties properties,
      ObjectProvider<EngineListener> listener,
      Environment environment) {
    EngineOptions options =
        EngineOptions.defaults(owner(environment))
            .with()
            .lease(properties.lease())
            .buckets(properties.buckets())
            .retry(properties.retries())
            .listener(listener.getIfAvailable(() -> EngineListener.NONE))
            .maxQueues(properties.maxQueues())
            .eventMemory(properties.events().memory())
            .build();
    Engine engine = Engines.create(store, options, dispatcher);
    dispatcher.onCapacity(engine::capacityChanged);
    return engine;
  }

  // Unique for each start, so that a lease can be told from one of an earlier life.
  private static String owner(Environment environment) {
    return SchedulerName.of(environment) + ":" + UUID.randomUUID().toString().substring(0, 8);
  }
}
